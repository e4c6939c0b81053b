-- warm_create: writes a chunk that does not exist yet.
-- Finding the token that this very call brings means that the call was sent
-- twice and went through before.
--
-- KEYS  1 chunk, 2 index
-- ARGV  1 number of the chunk, 2 new token, 3 payload
-- Reply {created, now}
--       {conflict, now, token there}: the token is empty in a damaged chunk
--       {integrity, now, place in KEYS, reason}
--
-- Uses: clock, types, writable, checks

local CHUNK, INDEX = KEYS[1], KEYS[2]
local number, token, payload = ARGV[1], ARGV[2], ARGV[3]

local now

-- check() is the reply that ends the call, or nil; it changes nothing.
local function check()
  now = now_ms()
  if wrong_type(CHUNK, 'hash') then
    return {'integrity', text(now), '1', 'the chunk is no hash'}
  end
  if wrong_type(INDEX, 'zset') then
    return {'integrity', text(now), '2', 'the index is no sorted set'}
  end
  if redis.call('EXISTS', CHUNK) == 1 then
    local there = redis.call('HGET', CHUNK, 't')
    if there == token then
      return {'created', text(now)}
    end
    return write_refusal(INDEX) or {'conflict', text(now), there or ''}
  end
end

local ended = failure(check)
if ended then
  return ended
end

local written = redis.pcall('HSET', CHUNK, 't', token, 'b', payload)
if type(written) == 'table' and written.err then
  return written
end
redis.call('ZADD', INDEX, number, number)
return {'created', text(now)}
