-- blob_put: puts a blob where one of the same length was seen a moment ago.
-- A blob that exists is compared and never overwritten nor extended; one that
-- has vanished meanwhile is stored.
--
-- KEYS  1 blob
-- ARGV  1 payload, 2 retention in ms
-- Reply {stored, now, ms to live}
--       {already_stored, now, ms to live}: -1 for a blob without an expiry
--       {conflict, now, length of the blob there}
--       {integrity, now}: the key is no string
--
-- Uses: clock, types

local BLOB = KEYS[1]

local now = now_ms()
if wrong_type(BLOB, 'string') then
  return {'integrity', text(now)}
end
local answer = 'stored'
if redis.call('EXISTS', BLOB) == 1 then
  local length = redis.call('STRLEN', BLOB)
  if length ~= #ARGV[1] or redis.call('GET', BLOB) ~= ARGV[1] then
    return {'conflict', text(now), text(length)}
  end
  answer = 'already_stored'
else
  redis.call('SET', BLOB, ARGV[1], 'PX', ARGV[2])
end
return {answer, text(now), text(redis.call('PTTL', BLOB))}
