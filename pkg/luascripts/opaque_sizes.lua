-- opaque_sizes: score and size of each member of rows. No member is moved.
--
-- KEYS  rows
-- ARGV  1 bytes to stop behind; 2 most members of a row
-- Reply for each row its members oldest first, score and bytes in turn; empty
--         for one with none or that is no sorted set. Of a row with more
--         members, the newest. It may stop before the last row, never before
--         the first.
-- Members pass through a few at a time: a row may hold a hundred of 1 MiB.
--
-- Reads only.

local STEP = 8
local budget, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local reply = {}
local read = 0
for i, row in ipairs(KEYS) do
  local sizes = {}
  local count = redis.pcall('ZCARD', row)
  if type(count) == 'table' then
    if not string.find(count.err, 'WRONGTYPE', 1, true) then
      return count
    end
    count = 0
  end
  for first = math.max(0, count - most), count - 1, STEP do
    local page = redis.call('ZRANGE', row, first, math.min(first + STEP, count) - 1, 'WITHSCORES')
    for at = 1, #page, 2 do
      sizes[#sizes + 1] = page[at + 1]
      sizes[#sizes + 1] = string.format('%.0f', #page[at])
      read = read + #page[at]
    end
  end
  reply[i] = sizes
  if read >= budget then
    break
  end
end
return reply
