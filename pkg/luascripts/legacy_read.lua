-- legacy_read: a hash or a string of an older layout, its time to live and the
-- time, at one moment.
--
-- KEYS  1 key
-- ARGV  fields of a hash; none for a string
-- Reply {now, PTTL, number of fields in the hash, value or nil for each field}
--       {now, PTTL, '1', string or nil}
--
-- Reads only.
-- Uses: clock

local key = KEYS[1]
local values, count
if #ARGV == 0 then
  values, count = {redis.call('GET', key)}, 1
else
  values, count = redis.call('HMGET', key, unpack(ARGV)), redis.call('HLEN', key)
end
return {text(now_ms()), text(redis.call('PTTL', key)), text(count), unpack(values)}
