-- retire_rest: deletes what an older layout keeps beside its records, when all
-- of those are gone.
--
-- KEYS  the keys that must not exist, then those to delete
-- ARGV  1 number of the former
-- Reply retired | kept

local present = tonumber(ARGV[1])
for place = 1, present do
  if redis.call('EXISTS', KEYS[place]) == 1 then
    return 'kept'
  end
end
for place = present + 1, #KEYS do
  redis.call('DEL', KEYS[place])
end
return 'retired'
