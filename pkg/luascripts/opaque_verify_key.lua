-- opaque_verify_key: all that a versioned store holds on one key, in one step.
--
-- KEYS  1 row, 2 index, 3 map, 4 cleanup, 5 sequence
-- ARGV  1 key, 2 versions at most
-- Reply {now, index, map, cleanup, counter, number of versions, TTL of the row
--         in ms, type of the row, version, score..} newest first. Index, map and
--         cleanup are what they hold on the key; nil stands for nothing, 1 for a
--         key of another type.
--
-- Reads only.
-- Uses: clock, types

local ROW, INDEX, MAP, CLEANUP, SEQUENCE = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local key = ARGV[1]

-- held(key, want, read) is what read finds, if the key has the type.
local function held(name, want, read)
  if wrong_type(name, want) then
    return 1
  end
  return read() or false
end

local reply = {
  text(now_ms()),
  held(INDEX, 'zset', function() return redis.call('ZSCORE', INDEX, key) end),
  held(MAP, 'hash', function() return redis.call('HGET', MAP, key) end),
  held(CLEANUP, 'zset', function() return redis.call('ZSCORE', CLEANUP, key) end),
  held(SEQUENCE, 'string', function() return redis.call('GET', SEQUENCE) end),
}
local kind = type_of(ROW)
reply[7] = text(redis.call('PTTL', ROW))
reply[8] = kind
reply[6] = '0'
if kind == 'zset' then
  reply[6] = text(redis.call('ZCARD', ROW))
  for i, item in ipairs(redis.call('ZREVRANGE', ROW, '0', text(tonumber(ARGV[2]) - 1), 'WITHSCORES')) do
    reply[8 + i] = item
  end
end
return reply
