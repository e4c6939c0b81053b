-- opaque_survey: of each row the newest member, undecoded, and how many
-- members there are. No other member is moved.
--
-- KEYS  rows
-- ARGV  1 bytes to stop behind
-- Reply now, then for each row {members, score of the newest, newest}; false
--         for a row with none, 1 for a key that is no sorted set. It may stop
--         before the last row, never before the first.
-- A number of members is passed on as the integer that ZCARD gives, which a
-- reply keeps whole, and a score as the text that Redis gives.
--
-- Reads only.
-- Uses: clock

local budget = tonumber(ARGV[1])
local reply = {text(now_ms())}
local read = 0
for i, row in ipairs(KEYS) do
  local found = redis.pcall('ZREVRANGE', row, '0', '0', 'WITHSCORES')
  local entry = false
  if found.err then
    if not string.find(found.err, 'WRONGTYPE', 1, true) then
      return found
    end
    entry = 1
  elseif found[1] then
    entry = {redis.call('ZCARD', row), found[2], found[1]}
    read = read + #found[1]
  end
  reply[i + 1] = entry
  if read >= budget then
    break
  end
end
return reply
