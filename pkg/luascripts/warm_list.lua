-- warm_list: reads one batch of chunks, each at one moment, until the bytes
-- of payload reach a bound; the first chunk is always read.
--
-- KEYS  1.. chunks, at most 1,000
-- ARGV  1 most bytes of payload in the reply, or 0 to leave payloads out
-- Reply one value for each chunk read, in the order of KEYS:
--         {token, size of the payload}, or {token, payload} when asked for;
--         where there is none, missing, foreign (no hash), no_token or
--         no_payload
-- A size is passed on as the integer that HSTRLEN gives, which a reply keeps
-- whole; as text it would cost a quarter of the speed.
--
-- Reads only.

local limit = tonumber(ARGV[1])
local call, pcall = redis.call, redis.pcall

-- damage(chunk, reply) says why a chunk's token and payload were not both
-- there. An error that is not about the type of the key ends the script.
local function damage(chunk, reply)
  if type(reply) == 'table' and reply.err then
    if not string.find(reply.err, 'WRONGTYPE', 1, true) then
      error(reply.err)
    end
    return 'foreign'
  end
  if call('EXISTS', chunk) == 0 then
    return 'missing'
  end
  if call('HEXISTS', chunk, 't') == 0 then
    return 'no_token'
  end
  return 'no_payload'
end

-- head(chunk) is the token and the size of the payload, or its damage.
local function head(chunk)
  local token = pcall('HGET', chunk, 't')
  if type(token) ~= 'string' then
    return damage(chunk, token)
  end
  local size = call('HSTRLEN', chunk, 'b')
  if size == 0 and call('HEXISTS', chunk, 'b') == 0 then
    return damage(chunk)
  end
  return {token, size}
end

-- whole(chunk) is the token and the payload, or its damage; and the size.
local function whole(chunk)
  local row = pcall('HMGET', chunk, 't', 'b')
  if not (row[1] and row[2]) then
    return damage(chunk, row), 0
  end
  return row, #row[2]
end

local reply = {}
if limit == 0 then
  for place = 1, #KEYS do
    reply[place] = head(KEYS[place])
  end
  return reply
end
local total = 0
for place = 1, #KEYS do
  local row, size = whole(KEYS[place])
  total = total + size
  if total > limit and place > 1 then
    break
  end
  reply[place] = row
end
return reply
