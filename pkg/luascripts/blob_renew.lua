-- blob_renew: sets the expiry of a blob to now + retention, shorter or longer.
--
-- KEYS  1 blob
-- ARGV  1 retention in ms
-- Reply {renewed, now, ms to live}
--       {missing, now}
--       {integrity, now}: the key is no string
--
-- Uses: clock, types

local BLOB = KEYS[1]

local now = now_ms()
if wrong_type(BLOB, 'string') then
  return {'integrity', text(now)}
end
local renewed = redis.pcall('PEXPIRE', BLOB, ARGV[1])
if type(renewed) == 'table' and renewed.err then
  return renewed
end
if renewed == 0 then
  return {'missing', text(now)}
end
return {'renewed', text(now), text(redis.call('PTTL', BLOB))}
