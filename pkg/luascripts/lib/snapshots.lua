-- snapshots: which are open, and how far back they read.
-- A snapshot has ended when its score in snapshot-expiry is at most now - 1000:
-- Redis still shows the HASH in its last millisecond, and other drivers' scans
-- then rely on what it guards. Uses clock.

local ENDED_AFTER = 1000
local ENDED_A_CALL = 128

-- horizon(expiry, boundary, now) is the smallest sequence that an open
-- snapshot reads at, as text, or nil when none is open. A boundary without an
-- expiry holds history back: nothing says that it has ended.
local function horizon(expiry, boundary, now)
  local rank = 0
  while true do
    local page = redis.call('ZRANGE', boundary, rank, rank + ENDED_A_CALL - 1, 'WITHSCORES')
    if #page == 0 then
      return nil
    end
    for i = 1, #page, 2 do
      local ends = redis.call('ZSCORE', expiry, page[i])
      if not ends or number(ends) > now - ENDED_AFTER then
        return page[i + 1]
      end
    end
    rank = rank + ENDED_A_CALL
  end
end

-- drop_ended(expiry, boundary, now) takes out at most 128 ended snapshots and
-- is their number.
local function drop_ended(expiry, boundary, now)
  local ended = redis.call('ZRANGEBYSCORE', expiry, '-inf', text(now - ENDED_AFTER), 'LIMIT', 0, ENDED_A_CALL)
  if #ended > 0 then
    redis.call('ZREM', expiry, unpack(ended))
    redis.call('ZREM', boundary, unpack(ended))
  end
  return #ended
end

-- below(row, horizon) is how many members of a row no open snapshot can read:
-- those under its newest one with score <= horizon.
local function below(row, horizon)
  return math.max(0, redis.call('ZCOUNT', row, '-inf', horizon) - 1)
end
