-- opaque_collect: collects rows of a versioned store that are due, and ends
-- snapshots that have run out (at most 128 a call).
-- A row whose newest version does not decode is left as it is.
--
-- KEYS  1 index, 2 map, 3 cleanup, 4 snapshot-expiry, 5 snapshot-boundary,
--       6.. rows
-- ARGV  the logical key of each row, in the same order
-- Reply {ended snapshots, result..} one result a row:
--         "early": not due any more
--         "vanished": it had no members; its entries are gone
--         "removed <members>": row and entries are gone
--         "trimmed <members>": older versions are gone, nothing is due
--         "held <members>": the same under open snapshots, due again in a second
--         "waiting <members>": the same, due again when it has expired
--         "damaged": not a sorted set, or the newest version does not decode
--       {integrity, place in KEYS, reason}
--
-- Uses: clock, types, member, snapshots

local INDEX, MAP, CLEANUP, EXPIRY, BOUNDARY = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local FIXED = 5
local CLEANUP_DELAY = 1000
local EXPIRED_DELAY = 60000

local now = now_ms()
for place, want in ipairs({'zset', 'hash', 'zset', 'zset', 'zset'}) do
  if wrong_type(KEYS[place], want) then
    return {'integrity', text(place), 'it has another type'}
  end
end

-- What becomes of entries, once all rows are done: a command for each would
-- take half of the time.
local forgotten, settled, later = {}, {}, {}

local function forget(key)
  forgotten[#forgotten + 1] = key
  settled[#settled + 1] = key
end

local function due_again(key, at)
  later[#later + 1] = text(at)
  later[#later + 1] = key
end

local function drop_oldest(row, count)
  if count > 0 then
    redis.call('ZREMRANGEBYRANK', row, 0, count - 1)
  end
end

local oldest = horizon(EXPIRY, BOUNDARY, now)

local function collect(row, key)
  local score = redis.call('ZSCORE', CLEANUP, key)
  if not score or number(score) > now then
    return 'early'
  end
  if wrong_type(row, 'zset') then
    return 'damaged'
  end
  local count = redis.call('ZCARD', row)
  if count == 0 then
    forget(key)
    return 'vanished'
  end
  -- Below a version that does not decode stand good ones, to be mended with.
  local record = decode(redis.call('ZREVRANGE', row, 0, 0)[1])
  if not record or record.key ~= key then
    return 'damaged'
  end
  if oldest then
    local dropped = below(row, oldest)
    drop_oldest(row, dropped)
    due_again(key, now + CLEANUP_DELAY)
    return 'held ' .. text(dropped)
  end
  if record.tombstone or (record.expires > 0 and record.expires + EXPIRED_DELAY <= now) then
    redis.call('DEL', row)
    forget(key)
    return 'removed ' .. text(count)
  end
  drop_oldest(row, count - 1)
  if record.expires > 0 then
    due_again(key, math.max(now + CLEANUP_DELAY, record.expires + EXPIRED_DELAY))
    return 'waiting ' .. text(count - 1)
  end
  settled[#settled + 1] = key
  return 'trimmed ' .. text(count - 1)
end

local reply = {''}
for i, key in ipairs(ARGV) do
  reply[i + 1] = collect(KEYS[FIXED + i], key)
end
-- The queue last: a key in it whose row is gone is looked at again.
if #forgotten > 0 then
  redis.call('ZREM', INDEX, unpack(forgotten))
  redis.call('HDEL', MAP, unpack(forgotten))
end
if #settled > 0 then
  redis.call('ZREM', CLEANUP, unpack(settled))
end
if #later > 0 then
  redis.call('ZADD', CLEANUP, unpack(later))
end
reply[1] = text(drop_ended(EXPIRY, BOUNDARY, now))
return reply
