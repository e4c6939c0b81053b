-- opaque_verify_rows: what rows hold, newest version first, undecoded.
--
-- KEYS  rows
-- ARGV  1 versions a row, at most; 2 bytes to stop behind
-- Reply {now, row..} a row is {TTL in ms, type, version, score..}: the TTL is -1
--         without one; nothing but "none" is of a row that is not there. It may
--         stop before the last row, never before the second.
--
-- Reads only.
-- Uses: clock, types

local last, budget = text(tonumber(ARGV[1]) - 1), tonumber(ARGV[2])
local reply = {text(now_ms())}
local read = 0
for i, key in ipairs(KEYS) do
  local found = redis.pcall('ZREVRANGE', key, '0', last, 'WITHSCORES')
  if found.err and not string.find(found.err, 'WRONGTYPE', 1, true) then
    return found
  end
  if found[1] then
    for at = 1, #found, 2 do
      read = read + #found[at]
    end
    table.insert(found, 1, 'zset')
    table.insert(found, 1, text(redis.call('PTTL', key)))
  else
    found = {text(redis.call('PTTL', key)), type_of(key)}
  end
  reply[i + 1] = found
  if read >= budget then
    break
  end
end
return reply
