-- opaque_repair_counter: raises the counter to the highest score of a row and
-- to the highest boundary of a snapshot, so that what is written next is above
-- both. It is never lowered.
--
-- KEYS  1 sequence, 2 the row with the highest score, 3 snapshot-boundary
-- Reply sound | repaired raised to <counter> | refused <reason>
--
-- Uses: clock, types, repair

local SEQUENCE, ROW, BOUNDARY = KEYS[1], KEYS[2], KEYS[3]
local MAX_SEQUENCE = 9007199254740991

if wrong_type(SEQUENCE, 'string') then
  return 'refused the counter is no string'
elseif wrong_type(ROW, 'zset') or wrong_type(BOUNDARY, 'zset') then
  return 'refused the row, or the bookkeeping of snapshots, has another type'
end
local function highest(zset)
  return number(redis.call('ZREVRANGE', zset, '0', '0', 'WITHSCORES')[2] or '0')
end
local top = math.ceil(math.max(highest(ROW), highest(BOUNDARY)))
local counter = redis.call('GET', SEQUENCE)
local last = counter and counter_value(counter)
if last and last >= MAX_SEQUENCE then
  return 'refused the counter is at its end, and is never lowered'
elseif last and last >= top then
  return 'sound'
elseif not counter and redis.call('EXISTS', ROW) == 0 then
  return 'sound'
elseif top >= MAX_SEQUENCE then
  return 'refused the highest score is beyond what a counter can reach'
end
return first(redis.pcall('SET', SEQUENCE, text(top))) or 'repaired raised to ' .. text(top)
