-- legacy_retire: deletes a record of an older layout, unless it has changed
-- since it was read.
--
-- KEYS  1 key
-- ARGV  1 length of the value in bytes
--       2 the field that holds the value, empty for a string
--       3.. other fields and what they hold, in turn
-- Reply retired | changed | missing

local key, length, field = KEYS[1], tonumber(ARGV[1]), ARGV[2]
if redis.call('EXISTS', key) == 0 then
  return 'missing'
end
if field == '' then
  if redis.call('STRLEN', key) ~= length then
    return 'changed'
  end
else
  if redis.call('HSTRLEN', key, field) ~= length then
    return 'changed'
  end
  for at = 3, #ARGV, 2 do
    if redis.call('HGET', key, ARGV[at]) ~= ARGV[at + 1] then
      return 'changed'
    end
  end
end
local done = redis.pcall('DEL', key)
if type(done) == 'table' and done.err then
  return done
end
return 'retired'
