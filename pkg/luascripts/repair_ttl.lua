-- repair_ttl: takes the TTL of a key away.
--
-- KEYS  1 the key
-- Reply sound | repaired
--
-- Uses: repair

local removed = redis.pcall('PERSIST', KEYS[1])
return first(removed) or (removed == 1 and 'repaired' or 'sound')
