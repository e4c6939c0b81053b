-- blob_read: a blob whole, its time to live and the time, at one moment. For
-- servers that refuse transactions, as Redis does when it is out of memory:
-- elsewhere MULTI does the same without copying the bytes into Lua.
--
-- KEYS  1 blob
-- Reply {now, PTTL, bytes or nil}
--
-- Reads only.
-- Uses: clock

local bytes = redis.pcall('GET', KEYS[1])
if type(bytes) == 'table' and bytes.err then
  return bytes
end
return {text(now_ms()), text(redis.call('PTTL', KEYS[1])), bytes}
