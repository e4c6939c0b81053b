-- opaque_snapshot_open: opens a snapshot of a versioned store.
-- Its guard in snapshot-expiry outlives its HASH by a second.
--
-- KEYS  1 sequence, 2 index, 3 snapshot-expiry, 4 snapshot-boundary,
--       5 scan:<snapshot id>
-- ARGV  1 snapshot id, 2 prefix
-- Reply {opened, now, boundary}
--       {capacity, open snapshots}
--       {integrity, place in KEYS, reason}
--
-- Uses: clock, types, snapshots

local SEQUENCE, INDEX, EXPIRY, BOUNDARY, SCAN = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local MAX_OPEN = 4096
local TTL = 60000
local GUARD = 61000

local now = now_ms()
for place, want in ipairs({'string', 'zset', 'zset', 'zset', 'none'}) do
  if wrong_type(KEYS[place], want) then
    return {'integrity', text(place), 'it has another type'}
  end
end
local counter = redis.call('GET', SEQUENCE)
if not counter and redis.call('ZCARD', INDEX) > 0 then
  return {'integrity', '1', 'the counter is missing: a snapshot would see no row'}
end
if counter and not counter_value(counter) then
  return {'integrity', '1', 'the counter is no integer'}
end
local open = redis.call('ZCOUNT', EXPIRY, '(' .. text(now - ENDED_AFTER), '+inf')
if open >= MAX_OPEN then
  return {'capacity', text(open)}
end

local boundary = counter or '0'
local written = redis.pcall('HSET', SCAN, 'now', text(now), 'boundary', boundary, 'prefix', ARGV[2])
if type(written) == 'table' and written.err then
  return written
end
redis.call('PEXPIRE', SCAN, TTL)
redis.call('ZADD', EXPIRY, text(now + GUARD), ARGV[1])
redis.call('ZADD', BOUNDARY, boundary, ARGV[1])
drop_ended(EXPIRY, BOUNDARY, now)
return {'opened', text(now), boundary}
