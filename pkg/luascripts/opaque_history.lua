-- opaque_history: a page of a row's members, newest first, undecoded.
--
-- KEYS  1 row
-- ARGV  1 highest score, as ZRANGEBYSCORE takes it; 2 members of that score to
--       step over; 3 bytes to stop behind
-- Reply now, "more" or "end", then member and score in turn. Each member counts
--       128 bytes more than it has. It may stop before the end, never before
--       the first.
-- Members pass through a few at a time: a row may hold a hundred of 1 MiB.
--
-- Reads only.
-- Uses: clock

local STEP = 4
local OVERHEAD = 128

local skip, budget = tonumber(ARGV[2]), tonumber(ARGV[3])
local reply = {text(now_ms()), 'more'}
local read = 0
repeat
  local page = redis.pcall('ZREVRANGEBYSCORE', KEYS[1], ARGV[1], '-inf', 'WITHSCORES', 'LIMIT', text(skip), STEP)
  if page.err then
    return page
  end
  for at = 1, #page, 2 do
    reply[#reply + 1] = page[at]
    reply[#reply + 1] = page[at + 1]
    read = read + #page[at] + OVERHEAD
  end
  skip = skip + STEP
  if #page < 2 * STEP then
    reply[2] = 'end'
  end
until reply[2] == 'end' or read >= budget
return reply
