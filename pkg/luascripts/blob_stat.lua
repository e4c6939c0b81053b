-- blob_stat: size, time to live and first bytes of blobs.
--
-- KEYS  blobs
-- ARGV  1 number of first bytes
-- Reply now, then for each blob its length, its PTTL and its first bytes; the
--       length of a key that is no string is -1
--
-- Reads only.
-- Uses: clock

local reply = {text(now_ms())}
-- All of them next to the time, which goes on: the rest may take a while.
for i, key in ipairs(KEYS) do
  reply[3 * i] = text(redis.call('PTTL', key))
end
for i, key in ipairs(KEYS) do
  local length, head = redis.pcall('STRLEN', key), ''
  if type(length) == 'table' and length.err then
    if not string.find(length.err, 'WRONGTYPE', 1, true) then
      return length
    end
    length = -1
  elseif ARGV[1] ~= '0' then
    head = redis.call('GETRANGE', key, 0, tonumber(ARGV[1]) - 1)
  end
  reply[3 * i - 1] = text(length)
  reply[3 * i + 1] = head
end
return reply
