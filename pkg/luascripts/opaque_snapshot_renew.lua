-- opaque_snapshot_renew: keeps an open snapshot open for another minute.
-- One of whose three records any is missing is expired: the rest goes too, and
-- none is made again.
--
-- KEYS  1 snapshot-expiry, 2 snapshot-boundary, 3 scan:<snapshot id>
-- ARGV  1 snapshot id
-- Reply renewed | expired
--
-- Uses: clock

local EXPIRY, BOUNDARY, SCAN = KEYS[1], KEYS[2], KEYS[3]
local TTL = 60000
local GUARD = 61000

if redis.call('EXISTS', SCAN) == 1
  and redis.call('ZSCORE', EXPIRY, ARGV[1])
  and redis.call('ZSCORE', BOUNDARY, ARGV[1]) then
  redis.call('PEXPIRE', SCAN, TTL)
  redis.call('ZADD', EXPIRY, text(now_ms() + GUARD), ARGV[1])
  return 'renewed'
end
redis.call('DEL', SCAN)
redis.call('ZREM', EXPIRY, ARGV[1])
redis.call('ZREM', BOUNDARY, ARGV[1])
return 'expired'
