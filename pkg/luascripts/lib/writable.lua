-- writable: telling an answer "no" from a server that takes no writes. A
-- replica may hold older data, so its "no" says nothing.

-- write_refusal(zset) is the error of a server that would refuse a write, else nil.
-- It takes the empty member, which no store has, out of one of their sorted
-- sets: a write that changes nothing, whatever the key is.
local function write_refusal(zset)
  local reply = redis.pcall('ZREM', zset, '')
  if type(reply) == 'table' and reply.err and not string.find(reply.err, 'WRONGTYPE', 1, true) then
    return reply
  end
end
