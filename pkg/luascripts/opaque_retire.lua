-- opaque_retire: deletes a row of an older layout with its entries, or what was
-- put aside of one, unless it has changed since it was read.
--
-- KEYS  1 row or quarantine; of a row also 2 index, 3 map, 4 cleanup
-- ARGV  1 SHA-1 of the newest member, 2 number of members, 3 key
-- Reply retired | changed | missing
--
-- Uses: repair

local row = KEYS[1]
local newest = redis.call('ZREVRANGE', row, '0', '0')[1]
if not newest then
  return 'missing'
end
if redis.sha1hex(newest) ~= ARGV[1] or redis.call('ZCARD', row) ~= tonumber(ARGV[2]) then
  return 'changed'
end
local refused = first(redis.pcall('DEL', row))
if refused then
  return refused
end
if #KEYS > 1 then
  redis.call('ZREM', KEYS[2], ARGV[3])
  redis.call('HDEL', KEYS[3], ARGV[3])
  redis.call('ZREM', KEYS[4], ARGV[3])
end
return 'retired'
