-- opaque_retag: gives the newest version of a row its format tag, in place. The
-- members that were there go to the quarantine of the row, with their scores;
-- the new one keeps the score of the newest.
-- A row of which an open snapshot reads an older version is left as it is.
--
-- KEYS  1 row, 2 quarantine, 3 index, 4 map, 5 cleanup, 6 snapshot-expiry,
--       7 snapshot-boundary
-- ARGV  1 key, 2 SHA-1 of the newest member, 3 the member in its place,
--       4 members that it moves, at most
-- Reply retagged | changed | snapshot | refused <reason>
--
-- Uses: clock, types, member, snapshots, repair, settle

local ROW, QUARANTINE, INDEX, MAP, CLEANUP = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local key, member = ARGV[1], ARGV[3]

for place, want in ipairs({'zset', 'zset', 'zset', 'hash', 'zset', 'zset', 'zset'}) do
  if wrong_type(KEYS[place], want) then
    return 'refused ' .. KEYS[place] .. ' has another type'
  end
end
local record = decode(member)
if not record or record.key ~= key then
  return 'refused the new member does not decode'
end
local newest = redis.call('ZREVRANGE', ROW, '0', '0', 'WITHSCORES')
if not newest[1] or redis.sha1hex(newest[1]) ~= ARGV[2] then
  return 'changed'
end
local count = redis.call('ZCARD', ROW)
if count > tonumber(ARGV[4]) then
  return 'refused the row has too many members'
end
local now = now_ms()
local oldest = horizon(KEYS[6], KEYS[7], now)
if oldest and number(oldest) < number(newest[2]) then
  return 'snapshot'
end

-- Copies first, and the new member before the old ones go: wherever this is
-- cut off, the old newest one is still the newest, and the row is done again.
for rank = 0, count - 1 do
  local old = redis.call('ZRANGE', ROW, text(rank), text(rank), 'WITHSCORES')
  local refused = first(redis.pcall('ZADD', QUARANTINE, old[2], old[1]))
  if refused then
    return refused
  end
end
redis.call('ZADD', ROW, newest[2], member)
for rank = count, 0, -1 do
  local old = redis.call('ZRANGE', ROW, text(rank), text(rank))[1]
  if old ~= member then
    redis.call('ZREM', ROW, old)
  end
end
redis.call('ZADD', INDEX, '0', key)
redis.call('HSET', MAP, key, ROW)
settle(ROW, CLEANUP, key, record, now)
return 'retagged'
