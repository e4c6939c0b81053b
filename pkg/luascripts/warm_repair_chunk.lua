-- warm_repair_chunk: makes an end of one damage of a chunk: gives it a new token
-- where it has none, and its entry in the index; removes it, with that entry,
-- where it has no payload or is no hash.
--
-- KEYS  1 chunk, 2 index
-- ARGV  1 number of the chunk, 2 type|payload|token, 3 new token
-- Reply sound | repaired | refused <reason>
--
-- Uses: types, repair

local CHUNK, INDEX = KEYS[1], KEYS[2]
local chunk, damage, token = ARGV[1], ARGV[2], ARGV[3]

local kind = type_of(CHUNK)
if kind == 'none' then
  return 'sound'
end
if damage == 'type' then
  if kind == 'hash' then
    return 'sound'
  end
elseif kind ~= 'hash' then
  return 'refused the chunk is no hash'
elseif redis.call('HEXISTS', CHUNK, damage == 'token' and 't' or 'b') == 1 then
  return 'sound'
end
if wrong_type(INDEX, 'zset') then
  return 'refused the index is no sorted set'
end
if damage == 'token' then
  local refusal = first(redis.pcall('HSET', CHUNK, 't', token))
  if refusal then
    return refusal
  end
  if redis.call('HEXISTS', CHUNK, 'b') == 1 then
    redis.call('ZADD', INDEX, chunk, chunk)
  end
  return 'repaired'
end
local refusal = first(redis.pcall('DEL', CHUNK))
if refusal then
  return refusal
end
redis.call('ZREM', INDEX, chunk)
return 'repaired'
