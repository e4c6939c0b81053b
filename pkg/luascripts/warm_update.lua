-- warm_update: overwrites a chunk whose token is the expected one.
-- Finding the token that this very call brings means that the call was sent
-- twice and went through before.
--
-- KEYS  1 chunk, 2 index
-- ARGV  1 expected token, 2 new token, 3 payload
-- Reply {updated, now}
--       {conflict, now, token there}
--       {missing, now}
--       {integrity, now, place in KEYS, reason}
--
-- Uses: clock, types, writable, checks

local CHUNK, INDEX = KEYS[1], KEYS[2]
local expected, token, payload = ARGV[1], ARGV[2], ARGV[3]

local now

-- check() is the reply that ends the call, or nil; it changes nothing.
local function check()
  now = now_ms()
  if wrong_type(CHUNK, 'hash') then
    return {'integrity', text(now), '1', 'the chunk is no hash'}
  end
  local there = redis.call('HGET', CHUNK, 't')
  if there == token then
    return {'updated', text(now)}
  end
  if not there then
    if redis.call('EXISTS', CHUNK) == 0 then
      return write_refusal(INDEX) or {'missing', text(now)}
    end
    return {'integrity', text(now), '1', 'the chunk has no token'}
  end
  if there ~= expected then
    return write_refusal(INDEX) or {'conflict', text(now), there}
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
return {'updated', text(now)}
