-- opaque_repair_snapshot: makes the records of a snapshot agree. Where HASH and
-- guard only end apart, both end with the one that ends first; otherwise the
-- snapshot ends: no record is made again, and no boundary changed.
--
-- KEYS  1 snapshot-expiry, 2 snapshot-boundary, 3 scan:<snapshot id>
-- ARGV  1 snapshot id
-- Reply sound | repaired | refused <reason>
--
-- Uses: clock, types, snapshot_state, repair

local EXPIRY, BOUNDARY, SCAN, ID = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local GUARD_AFTER = 1000

if wrong_type(EXPIRY, 'zset') or wrong_type(BOUNDARY, 'zset') then
  return 'refused the bookkeeping of snapshots has another type'
end
local now = now_ms()
local s = snapshot_state(EXPIRY, BOUNDARY, SCAN, ID, now)
if s.state == 'none' or s.state == 'sound' or s.state == 'ended' then
  return 'sound'
end
local ends = 0
if s.state == 'guard' then
  ends = math.min(LONGEST, number(s.expiry) - now - GUARD_AFTER, s.ttl < 0 and LONGEST or s.ttl)
end
if ends > 0 then
  local refused = first(redis.pcall('ZADD', EXPIRY, 'XX', text(now + ends + GUARD_AFTER), ID))
  if refused then
    return refused
  end
  redis.call('PEXPIRE', SCAN, text(ends))
  return 'repaired'
end
local refused = first(redis.pcall('DEL', SCAN))
if refused then
  return refused
end
redis.call('ZREM', EXPIRY, ID)
redis.call('ZREM', BOUNDARY, ID)
return 'repaired'
