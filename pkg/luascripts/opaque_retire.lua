-- opaque_retire: deletes a row of an older layout with its entries, or what was
-- put aside of one, unless it has changed since it was read. A row stays while
-- a snapshot is open, whose scan would miss it without a word. Behind the last
-- row of the store the counter goes too, if it is known that all go.
--
-- KEYS  1 row or quarantine; of a row also 2 index, 3 map, 4 cleanup,
--       5 snapshot-expiry, 6 snapshot-boundary, 7 sequence
-- ARGV  1 SHA-1 of the newest member, 2 number of members; of a row also 3 key,
--       4 '1' if no row of the store is to stay
-- Reply retired | changed | missing | snapshot
--       refused <reason>
--
-- Uses: clock, types, repair, snapshots

local row = KEYS[1]
local newest = redis.call('ZREVRANGE', row, '0', '0')[1]
if not newest then
  return 'missing'
end
if redis.sha1hex(newest) ~= ARGV[1] or redis.call('ZCARD', row) ~= tonumber(ARGV[2]) then
  return 'changed'
end
if #KEYS == 1 then
  return first(redis.pcall('DEL', row)) or 'retired'
end
for place, want in ipairs({'zset', 'zset', 'hash', 'zset', 'zset', 'zset'}) do
  if wrong_type(KEYS[place], want) then
    return 'refused ' .. KEYS[place] .. ' has another type'
  end
end
if horizon(KEYS[5], KEYS[6], now_ms()) then
  return 'snapshot'
end
local refused = first(redis.pcall('DEL', row))
if refused then
  return refused
end
redis.call('ZREM', KEYS[2], ARGV[3])
redis.call('HDEL', KEYS[3], ARGV[3])
redis.call('ZREM', KEYS[4], ARGV[3])
if ARGV[4] == '1' and redis.call('EXISTS', KEYS[2]) + redis.call('EXISTS', KEYS[3]) + redis.call('EXISTS', KEYS[4]) == 0 then
  redis.call('DEL', KEYS[5], KEYS[6], KEYS[7])
end
return 'retired'
