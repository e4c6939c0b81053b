-- blob_put: puts a blob where one of the same length was seen a moment ago.
-- A blob that exists is compared and never overwritten nor extended; one that
-- has vanished meanwhile is stored.
--
-- KEYS  1 blob
-- ARGV  1 payload, 2 PX or PXAT, 3 its end in ms from now or since the epoch
-- Reply {stored, now}
--       {already_stored, now, ms to live}: -1 for a blob without an expiry
--       {conflict, now, length of the blob there}
--       {integrity, now}: the key is no string
--
-- Uses: clock, types

local BLOB = KEYS[1]

local now = now_ms()
if wrong_type(BLOB, 'string') then
  return {'integrity', text(now)}
end
if redis.call('EXISTS', BLOB) == 0 then
  redis.call('SET', BLOB, ARGV[1], ARGV[2], ARGV[3])
  return {'stored', text(now)}
end
-- Not behind the comparison: that takes a while, and the time goes on in it.
now = now_ms()
local left = redis.call('PTTL', BLOB)
local length = redis.call('STRLEN', BLOB)
if length ~= #ARGV[1] or redis.call('GET', BLOB) ~= ARGV[1] then
  return {'conflict', text(now), text(length)}
end
return {'already_stored', text(now), text(left)}
