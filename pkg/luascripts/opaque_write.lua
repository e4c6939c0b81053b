-- opaque_write: one conditional atomic batch on a versioned store.
-- Everything that can refuse comes before the first change, which is the INCR.
--
-- KEYS  1 sequence, 2 index, 3 map, 4 cleanup, 5 snapshot-expiry,
--       6 snapshot-boundary, 7.. rows, each once
-- ARGV  1 number of conditions, 2 number of mutations, then
--       a condition: row's place in KEYS, missing|version|value, key, expected
--       a mutation:  row's place in KEYS, put|delete, key, head, expiry
--       head is the member up to its value: 0x01, array of five, key, value;
--       expiry is never, keep, "in <ms>" or "at <ms>"
-- Reply {applied, now, version, result..} one result a mutation:
--         "put <expires at> <expiry of the live row it replaced, or none>",
--         "deleted" or "absent"
--       {conflict, now, number of the condition}
--       {integrity, now, place in KEYS, reason}
--       {backlog, now, place in KEYS}
--       {expiry, now, place in KEYS}: now + retention is past the year 9999
--
-- Uses: clock, types, writable, checks, member, snapshots

local SEQUENCE, INDEX, MAP, CLEANUP = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local EXPIRY, BOUNDARY = KEYS[5], KEYS[6]
local MAX_EXPIRY = 253402300799999
local MAX_SEQUENCE = 9007199254740991
local MAX_MEMBERS = 128
local CLEANUP_DELAY = 1000
local EXPIRED_DELAY = 60000
local CHUNK = 1000

local now, oldest
local sequence
local plan = {}
local conditions, mutations = tonumber(ARGV[1]), tonumber(ARGV[2])

local members, scores = {}, {}

-- newest(place) is the row's newest member, false when it has none; or nil
-- and the reply that refuses the batch. EXISTS first: most rows of an import
-- are new, and it costs a quarter of a range of nothing.
local function newest(place)
  if members[place] == nil then
    members[place] = false
    if redis.call('EXISTS', KEYS[place]) == 1 then
      local reply = redis.pcall('ZREVRANGE', KEYS[place], '0', '0', 'WITHSCORES')
      if reply.err then
        if string.find(reply.err, 'WRONGTYPE', 1, true) then
          return nil, {'integrity', text(now), text(place), 'the row is no sorted set'}
        end
        return nil, reply
      end
      members[place], scores[place] = reply[1], number(reply[2])
    end
  end
  return members[place]
end

local records = {}

-- current(place, key) is the row's newest member decoded, false when it has
-- none; or nil and the reply that refuses the batch.
local function current(place, key)
  if records[place] ~= nil then
    return records[place]
  end
  local member, refusal = newest(place)
  if member == nil then
    return nil, refusal
  end
  local record = member and decode(member)
  if record == nil then
    return nil, {'integrity', text(now), text(place), 'the newest version does not decode'}
  end
  if record and record.key ~= key then
    return nil, {'integrity', text(now), text(place), 'the newest version belongs to another key'}
  end
  records[place] = record
  return record
end

local function holds(kind, record, place, expected)
  local is_live = record and live(record, now)
  if kind == 'missing' then
    return not is_live
  end
  if not is_live then
    return false
  end
  if kind == 'version' then
    return record.version == expected
  end
  return record.last - record.first + 1 == #expected
    and string.sub(members[place], record.first, record.last) == expected
end

local function pack_uint(n)
  local tag, width
  if n < 128 then
    return string.char(n)
  elseif n < 256 then
    tag, width = 0xcc, 1
  elseif n < 65536 then
    tag, width = 0xcd, 2
  elseif n < 4294967296 then
    tag, width = 0xce, 4
  else
    tag, width = 0xcf, 8
  end
  local bytes = ''
  for _ = 1, width do
    bytes = string.char(n % 256) .. bytes
    n = math.floor(n / 256)
  end
  return string.char(tag) .. bytes
end

-- check() is the reply that refuses the batch, or nil; it changes nothing.
local function check()
  now = now_ms()

  -- Types of the keys to be written.
  for place, want in ipairs({'string', 'zset', 'hash', 'zset', 'zset', 'zset'}) do
    if wrong_type(KEYS[place], want) then
      return {'integrity', text(now), text(place), 'it has another type'}
    end
  end
  local first_mutation = 3 + 4 * conditions
  for at = first_mutation, first_mutation + 5 * mutations - 1, 5 do
    local member, refusal = newest(tonumber(ARGV[at]))
    if member == nil then
      return refusal
    end
  end

  -- Conditions.
  for i = 1, conditions do
    local at = 3 + 4 * (i - 1)
    local place = tonumber(ARGV[at])
    local record, refusal = current(place, ARGV[at + 2])
    if record == nil then
      return refusal
    end
    if not holds(ARGV[at + 1], record, place, ARGV[at + 3]) then
      return write_refusal(CLEANUP) or {'conflict', text(now), text(i)}
    end
  end

  -- Mutated rows decode; what each mutation will do.
  for at = first_mutation, first_mutation + 5 * mutations - 1, 5 do
    local place, key = tonumber(ARGV[at]), ARGV[at + 2]
    local record, refusal = current(place, key)
    if record == nil then
      return refusal
    end
    local is_live = record and live(record, now)
    local step = {row = KEYS[place], place = place, key = key, head = ARGV[at + 3], existed = record ~= false}
    if ARGV[at + 1] == 'delete' then
      step.expires = 0
      step.tombstone = true
      step.absent = not is_live
      step.result = is_live and 'deleted' or 'absent'
    else
      local mode, ms = ARGV[at + 4], nil
      if mode ~= 'never' and mode ~= 'keep' then
        mode, ms = string.match(mode, '^(%a+) (%d+)$')
      end
      if mode == 'in' then
        step.expires = now + tonumber(ms)
      elseif mode == 'at' then
        step.expires = tonumber(ms)
      elseif mode == 'keep' and is_live then
        step.expires = record.expires
      else
        step.expires = 0
      end
      if mode ~= 'keep' and step.expires > MAX_EXPIRY then
        return {'expiry', text(now), text(place)}
      end
      step.result = 'put ' .. text(step.expires) .. ' ' .. (is_live and text(record.expires) or 'none')
    end
    plan[#plan + 1] = step
  end

  -- The counter.
  local counter = redis.call('GET', SEQUENCE)
  if not counter and redis.call('EXISTS', INDEX) == 1 then
    return {'integrity', text(now), '1', 'the counter is missing: versions would be used twice'}
  end
  local last = counter_value(counter or '0')
  if not last or last >= MAX_SEQUENCE then
    return {'integrity', text(now), '1', 'the counter is no integer below 2^53'}
  end
  sequence = last + 1
  for _, step in ipairs(plan) do
    if step.existed and scores[step.place] >= sequence then
      return {'integrity', text(now), '1', 'the counter is behind the versions of a row'}
    end
  end

  -- Backlog.
  oldest = horizon(EXPIRY, BOUNDARY, now)
  if oldest then
    for _, step in ipairs(plan) do
      if step.existed and not step.absent
        and redis.call('ZCARD', step.row) - below(step.row, oldest) >= MAX_MEMBERS then
        return {'backlog', text(now), text(step.place)}
      end
    end
  end
end

local refused = failure(check)
if refused then
  return refused
end

-- The first change. Redis checks memory here.
local incremented = redis.pcall('INCR', SEQUENCE)
if type(incremented) == 'table' and incremented.err then
  return incremented
end
drop_ended(EXPIRY, BOUNDARY, now)

local version = text(sequence)
local packed_version = string.char(0xa0 + #version) .. version
local index, map, settled, due, due_soon = {}, {}, {}, {}, {}
local reply = {'applied', text(now), version}
for _, step in ipairs(plan) do
  reply[#reply + 1] = step.result
  if not step.absent then
    local member = step.head .. packed_version .. pack_uint(step.expires) .. (step.tombstone and '\195' or '\194')
    redis.call('ZADD', step.row, version, member)
    local count = 1
    if step.existed and oldest then
      local dropped = below(step.row, oldest)
      if dropped > 0 then
        redis.call('ZREMRANGEBYRANK', step.row, 0, dropped - 1)
      end
      count = redis.call('ZCARD', step.row)
    elseif step.existed then
      redis.call('ZREMRANGEBYRANK', step.row, 0, -2)
    end
    index[#index + 1] = '0'
    index[#index + 1] = step.key
    map[#map + 1] = step.key
    map[#map + 1] = step.row
    if count > 1 or step.tombstone or (step.expires > 0 and step.expires <= now) then
      due_soon[#due_soon + 1] = text(now + CLEANUP_DELAY)
      due_soon[#due_soon + 1] = step.key
    elseif step.expires > 0 then
      due[#due + 1] = text(step.expires + EXPIRED_DELAY)
      due[#due + 1] = step.key
    else
      settled[#settled + 1] = step.key
    end
  end
end

local function in_chunks(list, call)
  for from = 1, #list, CHUNK do
    call(unpack(list, from, math.min(from + CHUNK - 1, #list)))
  end
end
in_chunks(index, function(...) redis.call('ZADD', INDEX, ...) end)
in_chunks(map, function(...) redis.call('HSET', MAP, ...) end)
in_chunks(settled, function(...) redis.call('ZREM', CLEANUP, ...) end)
in_chunks(due, function(...) redis.call('ZADD', CLEANUP, ...) end)
in_chunks(due_soon, function(...) redis.call('ZADD', CLEANUP, 'LT', ...) end)
return reply
