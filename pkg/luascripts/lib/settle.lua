-- settle: the entry that the cleanup queue must have for a row. Uses clock and
-- repair.

local DUE_SOON = 1000
local EXPIRED_FOR = 60000

-- settle(row, cleanup, key, record, now) makes the entry for a row whose newest
-- version is record, or moves one that comes much too late. It answers as a
-- script that mends does.
local function settle(row, cleanup, key, record, now)
  local due
  if record.tombstone or redis.call('ZCARD', row) > 1 then
    due = now + DUE_SOON
  elseif record.expires > 0 then
    due = math.max(now + DUE_SOON, record.expires + EXPIRED_FOR)
  else
    return 'sound'
  end
  local score = redis.call('ZSCORE', cleanup, key)
  if score and number(score) <= due + EXPIRED_FOR then
    return 'sound'
  end
  return first(redis.pcall('ZADD', cleanup, 'LT', text(due), key)) or 'repaired'
end
