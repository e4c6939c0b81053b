-- opaque_repair_key: makes one entry of a key agree with its row: made again
-- where the row has one, dropped where there is no row.
-- An entry that leads to a row which does not decode would make other drivers
-- fail, so none is made.
--
-- KEYS  1 row, 2 index, 3 map, 4 cleanup
-- ARGV  1 key, 2 index|map|cleanup
-- Reply sound | repaired | refused <reason>
--
-- Uses: clock, types, member, repair, settle

local ROW, INDEX, MAP, CLEANUP = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local key, entry = ARGV[1], ARGV[2]

if wrong_type(INDEX, 'zset') or wrong_type(MAP, 'hash') or wrong_type(CLEANUP, 'zset') then
  return 'refused the bookkeeping has another type'
end

local kind = type_of(ROW)
if kind == 'none' then
  local removed
  if entry == 'index' then
    removed = redis.pcall('ZREM', INDEX, key)
  elseif entry == 'map' then
    removed = redis.pcall('HDEL', MAP, key)
  else
    removed = redis.pcall('ZREM', CLEANUP, key)
  end
  return first(removed) or (removed == 0 and 'sound' or 'repaired')
end
if kind ~= 'zset' then
  return 'refused the row is no sorted set'
end
local record = decode(redis.call('ZREVRANGE', ROW, '0', '0')[1])
if not record or record.key ~= key then
  return 'refused the newest version of the row does not decode'
end
if entry == 'index' then
  local score = redis.call('ZSCORE', INDEX, key)
  if score and number(score) == 0 then
    return 'sound'
  end
  return first(redis.pcall('ZADD', INDEX, '0', key)) or 'repaired'
elseif entry == 'map' then
  if redis.call('HGET', MAP, key) == ROW then
    return 'sound'
  end
  return first(redis.pcall('HSET', MAP, key, ROW)) or 'repaired'
end
return settle(ROW, CLEANUP, key, record, now_ms())
