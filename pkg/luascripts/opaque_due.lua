-- opaque_due: a page of the keys that are due for collection.
--
-- KEYS  1 cleanup
-- ARGV  1 lowest score; 2 highest score, or empty for now; 3 entries to step
--       over; 4 number of keys
-- Reply the highest score, then key and score in turn
--
-- Reads only.
-- Uses: clock

local highest = ARGV[2]
if highest == '' then
  highest = text(now_ms())
end
local reply = redis.pcall('ZRANGEBYSCORE', KEYS[1], ARGV[1], highest, 'WITHSCORES', 'LIMIT', ARGV[3], ARGV[4])
if not reply.err then
  table.insert(reply, 1, highest)
end
return reply
