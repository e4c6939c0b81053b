-- opaque_retag: gives the newest version of a row its format tag, in place. The
-- members that were there go to the quarantine of the row, with their scores;
-- the new one keeps the score of the newest.
-- A row of which an open snapshot reads an older version is left as it is.
--
-- KEYS  1 row, 2 quarantine, 3 index, 4 map, 5 cleanup, 6 snapshot-expiry,
--       7 snapshot-boundary
-- ARGV  1 key, 2 SHA-1 of the newest member, 3 the member in its place,
--       4 members that it copies, at most, where some were put aside before
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
local joins = redis.call('EXISTS', QUARANTINE) == 1
if joins and count > tonumber(ARGV[4]) then
  return 'refused it has too many members to join those put aside before: retire these first'
end
local now = now_ms()
local oldest = horizon(KEYS[6], KEYS[7], now)
if oldest and number(oldest) < number(newest[2]) then
  return 'snapshot'
end

-- First what may be refused. The new member has the score of the old newest one
-- and ranks below it, by its tag: the row stays one to be done.
local refused = first(redis.pcall('ZADD', ROW, newest[2], member))
if refused then
  return refused
end
if joins then
  for rank = 0, count do
    local old = redis.call('ZRANGE', ROW, text(rank), text(rank), 'WITHSCORES')
    if old[1] ~= member then
      redis.call('ZADD', QUARANTINE, old[2], old[1])
    end
  end
  for rank = count, 0, -1 do
    local old = redis.call('ZRANGE', ROW, text(rank), text(rank))[1]
    if old ~= member then
      redis.call('ZREM', ROW, old)
    end
  end
else
  -- However many they are, this costs the same.
  refused = first(redis.pcall('RENAME', ROW, QUARANTINE))
  if refused then
    redis.call('ZREM', ROW, member)
    return refused
  end
  redis.call('ZADD', ROW, newest[2], member)
  redis.call('ZREM', QUARANTINE, member)
end
redis.call('ZADD', INDEX, '0', key)
redis.call('HSET', MAP, key, ROW)
settle(ROW, CLEANUP, key, record, now)
return 'retagged'
