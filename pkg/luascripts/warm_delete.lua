-- warm_delete: removes a chunk whose token is the expected one.
--
-- KEYS  1 chunk, 2 index
-- ARGV  1 number of the chunk, 2 expected token
-- Reply {deleted, now}
--       {conflict, now, token there}
--       {missing, now}
--       {integrity, now, place in KEYS, reason}
--
-- Uses: clock, types, writable, checks

local CHUNK, INDEX = KEYS[1], KEYS[2]
local number, expected = ARGV[1], ARGV[2]

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
  local there = redis.call('HGET', CHUNK, 't')
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

local removed = redis.pcall('DEL', CHUNK)
if type(removed) == 'table' and removed.err then
  return removed
end
redis.call('ZREM', INDEX, number)
return {'deleted', text(now)}
