-- warm_verify: a segment's index and some of its chunks, each with its entry in
-- the index, as of one moment.
--
-- KEYS  1 index, 2.. chunks, at most 1,000
-- ARGV  1 most bytes of payload in the reply, though one payload always fits,
--       2 longest payload to read, 0 to read none, 3.. the member of the index
--       for each chunk
-- Reply {type, PTTL} of the index, then for each chunk, until the bytes are
--       reached, {type, PTTL, score}, the score empty without an entry; a hash
--       has besides: number of fields, length of t, t, length of b, b, and the
--       names of up to 16 fields where it has more than those two. Lengths are
--       -1 of a field that is not there; a t of more than 64 bytes and a b that
--       is not to be read are empty.
--
-- Reads only.
-- Uses: types, clock

local INDEX = KEYS[1]
local limit, longest = tonumber(ARGV[1]), tonumber(ARGV[2])
local LONGEST_TOKEN = 64
local MOST_FIELDS = 16

-- value(chunk, field, most) is the length of a field and, if it is at most
-- most, the field.
local function value(chunk, field, most)
  local length = redis.call('HSTRLEN', chunk, field)
  if length > most then
    return length, ''
  end
  local found = redis.call('HGET', chunk, field)
  return found and length or -1, found or ''
end

local index_type = type_of(INDEX)
local reply = {{index_type, text(redis.call('PTTL', INDEX))}}
local total = 0
for place = 2, #KEYS do
  local chunk = KEYS[place]
  local kind = type_of(chunk)
  local score = index_type == 'zset' and redis.call('ZSCORE', INDEX, ARGV[place + 1]) or ''
  local facts = {kind, text(redis.call('PTTL', chunk)), score}
  if kind == 'hash' then
    local fields = redis.call('HLEN', chunk)
    local token_length, token = value(chunk, 't', LONGEST_TOKEN)
    local length, payload = value(chunk, 'b', longest)
    total = total + #payload
    if total > limit and place > 2 then
      break
    end
    facts = {kind, facts[2], score, text(fields), text(token_length), token, text(length), payload}
    if fields > 2 and fields <= MOST_FIELDS then
      for _, name in ipairs(redis.call('HKEYS', chunk)) do
        facts[#facts + 1] = name
      end
    end
  end
  reply[place] = facts
end
return reply
