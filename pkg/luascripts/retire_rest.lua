-- retire_rest: deletes what an older layout keeps beside its records, of one
-- type, when those are gone.
--
-- KEYS  the keys that must not exist, then those to delete
-- ARGV  1 number of the former, 2 type of the latter; one of another type stays
-- Reply number of keys deleted, in decimal
--
-- Uses: clock, types, repair

local present = tonumber(ARGV[1])
for place = 1, present do
  if redis.call('EXISTS', KEYS[place]) == 1 then
    return '0'
  end
end
local gone = 0
for place = present + 1, #KEYS do
  if type_of(KEYS[place]) == ARGV[2] then
    local refused = first(redis.pcall('DEL', KEYS[place]))
    if refused then
      return refused
    end
    gone = gone + 1
  end
end
return text(gone)
