-- legacy_retire: deletes a record of an older layout, unless it has changed
-- since it was read.
--
-- KEYS  1 key; of opaque-v1 also 2 the index of all rows
-- ARGV  1 SHA-1 of the value as it is stored
--       2 the field that holds the value, empty for a string
--       3 when the key expires in ms, 0 for never; -1 where a field says it
--       4 the key in the index, empty where there is none
--       5 SHA-1 of its entry there, empty where there is none
--       6.. other fields and what they hold, in turn
-- Reply retired | changed | missing
--
-- Uses: clock, types, repair

local TOLERANCE = 1000 -- ms: a time to live and the time are two readings

local key, field, ends = KEYS[1], ARGV[2], tonumber(ARGV[3])
if redis.call('EXISTS', key) == 0 then
  return 'missing'
end
if wrong_type(key, field == '' and 'string' or 'hash') then
  return 'changed'
end
local value
if field == '' then
  value = redis.call('GET', key)
else
  value = redis.call('HGET', key, field)
end
if not value or redis.sha1hex(value) ~= ARGV[1] then
  return 'changed'
end
for at = 6, #ARGV, 2 do
  if redis.call('HGET', key, ARGV[at]) ~= ARGV[at + 1] then
    return 'changed'
  end
end
local left = redis.call('PTTL', key)
if ends == 0 and left ~= -1 or ends > 0 and (left < 0 or math.abs(now_ms() + left - ends) > TOLERANCE) then
  return 'changed'
end
local indexed = KEYS[2] and not wrong_type(KEYS[2], 'hash')
if indexed then
  local entry = redis.call('HGET', KEYS[2], ARGV[4])
  if (entry and redis.sha1hex(entry) or '') ~= ARGV[5] then
    return 'changed'
  end
end
local refused = first(redis.pcall('DEL', key))
if refused then
  return refused
end
if indexed then
  redis.call('HDEL', KEYS[2], ARGV[4])
end
return 'retired'
