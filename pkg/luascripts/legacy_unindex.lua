-- legacy_unindex: takes an entry without a record out of the index of
-- opaque-v1, unless it has changed since it was read.
--
-- KEYS  1 index, 2 record
-- ARGV  1 key, 2 SHA-1 of the entry
-- Reply retired | changed | missing
--
-- Uses: repair

local entry = redis.call('HGET', KEYS[1], ARGV[1])
if not entry then
  return 'missing'
end
if redis.sha1hex(entry) ~= ARGV[2] or redis.call('EXISTS', KEYS[2]) == 1 then
  return 'changed'
end
return first(redis.pcall('HDEL', KEYS[1], ARGV[1])) or 'retired'
