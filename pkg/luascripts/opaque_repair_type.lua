-- opaque_repair_type: deletes a key of the bookkeeping that has another type.
--
-- KEYS  1 the key
-- ARGV  1 the type that it should have
-- Reply sound | repaired
--
-- Uses: types, repair

if not wrong_type(KEYS[1], ARGV[1]) then
  return 'sound'
end
return first(redis.pcall('DEL', KEYS[1])) or 'repaired'
