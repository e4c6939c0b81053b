-- blob_delete: removes a blob.
--
-- KEYS  1 blob
-- Reply {deleted, now}
--       {missing, now}
--       {integrity, now}: the key is no string
--
-- Uses: clock, types

local BLOB = KEYS[1]

local now = now_ms()
if wrong_type(BLOB, 'string') then
  return {'integrity', text(now)}
end
local removed = redis.pcall('DEL', BLOB)
if type(removed) == 'table' and removed.err then
  return removed
end
if removed == 0 then
  return {'missing', text(now)}
end
return {'deleted', text(now)}
