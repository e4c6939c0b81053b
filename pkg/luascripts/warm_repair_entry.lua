-- warm_repair_entry: makes one member of a segment's index agree with the chunk
-- that it names: its score is its number where the chunk is sound, and it is
-- dropped where there is no chunk.
--
-- KEYS  1 chunk, 2 index
-- ARGV  1 member, 2 its number, empty for a member that is no number of a chunk
-- Reply sound | repaired | refused <reason>
--
-- Uses: clock, types, repair

local CHUNK, INDEX = KEYS[1], KEYS[2]
local member, chunk = ARGV[1], ARGV[2]

if wrong_type(INDEX, 'zset') then
  return 'refused the index is no sorted set'
end
local kind = type_of(CHUNK)
if kind == 'none' then
  local removed = redis.pcall('ZREM', INDEX, member)
  return first(removed) or (removed == 0 and 'sound' or 'repaired')
end
local score = redis.call('ZSCORE', INDEX, member)
if chunk == '' then
  return score and 'refused the member names a key' or 'sound'
end
if score and number(score) == tonumber(chunk) then
  return 'sound'
end
if kind ~= 'hash' or redis.call('HEXISTS', CHUNK, 't') == 0 or redis.call('HEXISTS', CHUNK, 'b') == 0 then
  return 'refused the chunk is damaged'
end
return first(redis.pcall('ZADD', INDEX, chunk, member)) or 'repaired'
