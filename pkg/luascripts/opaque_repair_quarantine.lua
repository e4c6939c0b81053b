-- opaque_repair_quarantine: moves members out of a row, with their scores, to
-- its quarantine: those that do not decode, or those of the older layout without
-- a format tag, or those of other keys, or all but the newest of each version. A row of another type is renamed as a whole.
-- What remains keeps its entries, with one in the cleanup queue where it needs
-- one; where nothing remains they go.
--
-- KEYS  1 row, 2 quarantine, 3 index, 4 map, 5 cleanup
-- ARGV  1 key, empty where it is not known
--       2 undecodable|older|foreign|repeated|type: what to move
--       3 members that it looks at, at most
-- Reply sound | repaired <what was moved> | more <members moved> | refused <reason>
--
-- Uses: clock, types, member, repair, settle

local ROW, QUARANTINE, INDEX, MAP, CLEANUP = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local key, what, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])

local function forget()
  if key ~= '' then
    redis.call('ZREM', INDEX, key)
    redis.call('HDEL', MAP, key)
    redis.call('ZREM', CLEANUP, key)
  end
end

if wrong_type(INDEX, 'zset') or wrong_type(MAP, 'hash') or wrong_type(CLEANUP, 'zset') then
  return 'refused the bookkeeping has another type'
end
local kind = type_of(ROW)
if what == 'type' then
  if kind == 'none' or kind == 'zset' then
    return 'sound'
  elseif type_of(QUARANTINE) ~= 'none' then
    return 'refused the quarantine of the row holds something already'
  end
  local refused = first(redis.pcall('RENAME', ROW, QUARANTINE))
  if refused then
    return refused
  end
  redis.call('PERSIST', QUARANTINE)
  forget()
  return 'repaired renamed to ' .. QUARANTINE
end
if kind == 'none' then
  return 'sound'
elseif kind ~= 'zset' then
  return 'refused the row is no sorted set'
elseif wrong_type(QUARANTINE, 'zset') then
  return 'refused the quarantine of the row is no sorted set'
end

local OLDER = 0x95 -- the first byte of the older layout
local versions = {}
local function unwanted(member)
  local record = decode(member)
  if what == 'undecodable' or what == 'older' then
    return not record and (string.byte(member) == OLDER) == (what == 'older')
  elseif not record then
    return false
  elseif what == 'foreign' then
    return record.key ~= key
  end
  local seen = versions[record.version]
  versions[record.version] = true
  return seen
end

-- One member at a time: a row may hold a hundred values of a megabyte.
local count, moved = redis.call('ZCARD', ROW), {}
for rank = 0, math.min(count, limit) - 1 do
  if unwanted(redis.call('ZREVRANGE', ROW, text(rank), text(rank))[1]) then
    moved[#moved + 1] = rank
  end
end
if #moved == 0 then
  return count > limit and 'refused the row has too many members' or 'sound'
end
-- From the oldest on, so that the ranks above stay what they are.
for i = #moved, 1, -1 do
  local rank = text(moved[i])
  local member = redis.call('ZREVRANGE', ROW, rank, rank, 'WITHSCORES')
  local refused = first(redis.pcall('ZADD', QUARANTINE, member[2], member[1]))
  if refused then
    if i == #moved then
      return refused
    end
    return 'more ' .. text(#moved - i)
  end
  redis.call('ZREM', ROW, member[1])
end
local newest = redis.call('ZREVRANGE', ROW, '0', '0')[1]
local record = newest and decode(newest)
if not newest then
  forget()
elseif key ~= '' and record and record.key == key then
  settle(ROW, CLEANUP, key, record, now_ms())
end
if count > limit then
  return 'more ' .. text(#moved)
end
return 'repaired moved ' .. text(#moved) .. ' to ' .. QUARANTINE
