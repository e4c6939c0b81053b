-- opaque_snapshot_close: ends a snapshot: all three of its records at once.
-- A scan of another driver would lose rows without a word if only some went.
--
-- KEYS  1 snapshot-expiry, 2 snapshot-boundary, 3 scan:<snapshot id>
-- ARGV  1 snapshot id
-- Reply the number of records removed, 0 to 3
--
-- Uses: types

for place = 1, 2 do
  if wrong_type(KEYS[place], 'zset') then
    return redis.error_reply('WRONGTYPE ' .. KEYS[place] .. ' is no sorted set')
  end
end
local removed = redis.pcall('DEL', KEYS[3])
if type(removed) == 'table' and removed.err then
  return removed
end
removed = removed + redis.call('ZREM', KEYS[1], ARGV[1])
return removed + redis.call('ZREM', KEYS[2], ARGV[1])
