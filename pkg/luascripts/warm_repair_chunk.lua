-- warm_repair_chunk: makes an end of one damage of a chunk: gives it a new token
-- where it has none; removes it, with its entry in the index, where it has no
-- payload or is no hash.
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
if damage == 'token' then
  return first(redis.pcall('HSET', CHUNK, 't', token)) or 'repaired'
end
if wrong_type(INDEX, 'zset') then
  return 'refused the index is no sorted set'
end
local refusal = first(redis.pcall('DEL', CHUNK))
if refusal then
  return refusal
end
redis.call('ZREM', INDEX, chunk)
return 'repaired'
