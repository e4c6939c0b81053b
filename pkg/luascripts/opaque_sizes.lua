-- opaque_sizes: score and size of each member of rows. No member is moved.
--
-- KEYS  rows
-- ARGV  1 bytes to stop behind; 2 lowest score of the first row, as
--       ZRANGEBYSCORE takes it; 3 members of that score to step over
-- Reply "more" or "end", then for each row its members oldest first, score and
--       bytes in turn; empty for one with none or that is no sorted set. Each
--       member counts 128 bytes more than it has. It may stop before the last
--       row, never before the first member; "more" says that the last row of
--       the answer may have further ones.
-- Members pass through a few at a time: a row may hold a hundred of 1 MiB.
--
-- Reads only.
-- Uses: clock

local STEP = 4
local OVERHEAD = 128

local budget = tonumber(ARGV[1])
local reply = {'end'}
local read = 0

-- sizes(row, lowest, skip) is what is told of a row, and whether it is all; or
-- nil and an error.
local function sizes(row, lowest, skip)
  local found = {}
  repeat
    local page = redis.pcall('ZRANGEBYSCORE', row, lowest, '+inf', 'WITHSCORES', 'LIMIT', text(skip), STEP)
    if page.err then
      if string.find(page.err, 'WRONGTYPE', 1, true) then
        return found, true
      end
      return nil, page
    end
    for at = 1, #page, 2 do
      found[#found + 1] = page[at + 1]
      found[#found + 1] = text(#page[at])
      read = read + #page[at] + OVERHEAD
    end
    skip = skip + STEP
    if #page < 2 * STEP then
      return found, true
    end
  until read >= budget
  return found, false
end

for i, row in ipairs(KEYS) do
  local found, whole
  if i == 1 then
    found, whole = sizes(row, ARGV[2], tonumber(ARGV[3]))
  else
    found, whole = sizes(row, '-inf', 0)
  end
  if not found then
    return whole
  end
  reply[i + 1] = found
  if not whole then
    reply[1] = 'more'
  end
  if read >= budget then
    break
  end
end
return reply
