-- warm_repair_index: deletes the index of a segment if it is no sorted set, so
-- that it can be made again from the chunks.
--
-- KEYS  1 index
-- Reply sound | repaired
--
-- Uses: types, repair

if not wrong_type(KEYS[1], 'zset') then
  return 'sound'
end
return first(redis.pcall('DEL', KEYS[1])) or 'repaired'
