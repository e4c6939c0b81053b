-- opaque_history: a page of a row's members, newest first, undecoded.
--
-- KEYS  1 row
-- ARGV  1 highest score, as ZRANGEBYSCORE takes it; 2 number of members
-- Reply now, then member and score in turn
--
-- Reads only.
-- Uses: clock

local reply = redis.pcall('ZREVRANGEBYSCORE', KEYS[1], ARGV[1], '-inf', 'WITHSCORES', 'LIMIT', '0', ARGV[2])
if not reply.err then
  table.insert(reply, 1, text(now_ms()))
end
return reply
