-- opaque_bookkeeping: how far the counter of a versioned store is, how many
-- keys it has, and what waits for collection.
--
-- KEYS  1 sequence, 2 index, 3 cleanup
-- Reply {now, counter or empty, keys in the index, entries of cleanup, how many
--         of them are due, the lowest score or empty}
--       {integrity, place in KEYS, reason}
--
-- Reads only.
-- Uses: clock, types

local now = now_ms()
for place, want in ipairs({'string', 'zset', 'zset'}) do
  if wrong_type(KEYS[place], want) then
    return {'integrity', text(place), 'it has another type'}
  end
end
local first = redis.call('ZRANGE', KEYS[3], '0', '0', 'WITHSCORES')
return {
  text(now),
  redis.call('GET', KEYS[1]) or '',
  text(redis.call('ZCARD', KEYS[2])),
  text(redis.call('ZCARD', KEYS[3])),
  text(redis.call('ZCOUNT', KEYS[3], '-inf', text(now))),
  first[2] or '',
}
