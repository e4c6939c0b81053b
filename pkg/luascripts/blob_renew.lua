-- blob_renew: gives a blob another end, sooner or later: now + retention, or a
-- moment. One that has passed is the next one.
--
-- KEYS  1 blob
-- ARGV  1 PX or PXAT, 2 its end in ms from now or since the epoch
-- Reply {renewed, now}
--       {missing, now}
--       {integrity, now}: the key is no string
--
-- Uses: clock, types

local BLOB = KEYS[1]

local now = now_ms()
if wrong_type(BLOB, 'string') then
  return {'integrity', text(now)}
end
local renewed
if ARGV[1] == 'PXAT' then
  renewed = redis.pcall('PEXPIREAT', BLOB, text(math.max(now + 1, tonumber(ARGV[2]))))
else
  renewed = redis.pcall('PEXPIRE', BLOB, ARGV[2])
end
if type(renewed) == 'table' and renewed.err then
  return renewed
end
if renewed == 0 then
  return {'missing', text(now)}
end
return {'renewed', text(now)}
