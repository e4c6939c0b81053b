-- opaque_write: one conditional atomic batch on a versioned store.
-- Everything that can refuse comes before the first change, which is the INCR.
--
-- KEYS  1 sequence, 2 index, 3 map, 4 cleanup, 5 snapshot-expiry,
--       6 snapshot-boundary, 7.. rows, each once: those of the mutations in
--       their order, then the others that conditions ask of
-- ARGV  1 number of conditions, 2 number of mutations, 3 how many of the
--       conditions ask, each of the mutation of the same number, that its row
--       is missing: the first ones; then
--       a mutation:  key, head, delete or the expiry of what is put
--       another row: key
--       another condition: row's place in KEYS, missing|version|value, expected
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
-- Most batches that are large put rows that do not exist. For those, what is
-- done once a row is kept to little: no table, no number read from text.
--
-- Uses: clock, types, writable, checks, member, snapshots

local KEYS, ARGV, call = KEYS, ARGV, redis.call
local SEQUENCE, INDEX, MAP, CLEANUP = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local EXPIRY, BOUNDARY = KEYS[5], KEYS[6]
local MAX_EXPIRY = 253402300799999
local MAX_SEQUENCE = 9007199254740991
local MAX_MEMBERS = 128
local CLEANUP_DELAY = 1000
local EXPIRED_DELAY = 60000
local HEAD = 6 -- keys before the first row
local CHUNK = 1000 -- values of one command

local now, oldest
local sequence
local conditions, mutations, missing = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

-- The arguments of mutation i begin at 3 * i + 1, those of another condition i
-- at behind + 3 * i.
local behind = 1 + 2 * mutations + (#KEYS - HEAD) - 3 * missing

-- key_of(place) is the logical key of a row.
local function key_of(place)
  local i = place - HEAD
  return ARGV[i <= mutations and 3 * i + 1 or 3 + 2 * mutations + i]
end

-- in_chunks(list, first, use) calls use with the values of a list from the
-- first on, as many at a time as a command takes.
local function in_chunks(list, first, use)
  for from = first, #list, CHUNK do
    use(unpack(list, from, math.min(from + CHUNK - 1, #list)))
  end
end

-- any_row() tells whether one of the rows exists.
local function any_row()
  local found = 0
  in_chunks(KEYS, HEAD + 1, function(...) found = found + call('EXISTS', ...) end)
  return found > 0
end

local all_new
local members, scores = {}, {}

-- newest(place) is the row's newest member, false when it has none; or nil
-- and the reply that refuses the batch. EXISTS first: it costs a quarter of a
-- range of nothing.
local function newest(place)
  if members[place] == nil then
    members[place] = false
    if call('EXISTS', KEYS[place]) == 1 then
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

-- current(place) is the row's newest member decoded, false when it has none;
-- or nil and the reply that refuses the batch.
local function current(place)
  if all_new then
    return false
  end
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
  if record and record.key ~= key_of(place) then
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

-- expiry_of(asked, record) is when a put ends that replaces a live record, or
-- none; nil when that is past the last moment there is.
local function expiry_of(asked, record)
  if asked == 'never' then
    return 0
  end
  if asked == 'keep' then
    return record and record.expires or 0
  end
  local mode, ms = string.match(asked, '^(%a+) (%d+)$')
  local expires = tonumber(ms) + (mode == 'in' and now or 0)
  return expires <= MAX_EXPIRY and expires or nil
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


-- What each mutation does: when what it puts ends, 0 for never, TOMBSTONE for
-- a tombstone and NOTHING where a delete finds nothing; and the reply.
local TOMBSTONE, NOTHING = -1, -2
local expires = {}
local reply = {'applied', 0, 0}

-- check() is the reply that refuses the batch, or nil; it changes nothing.
local function check()
  now = now_ms()

  -- Types of the keys to be written.
  for place, want in ipairs({'string', 'zset', 'hash', 'zset', 'zset', 'zset'}) do
    if wrong_type(KEYS[place], want) then
      return {'integrity', text(now), text(place), 'it has another type'}
    end
  end
  all_new = not any_row()
  if not all_new then
    for i = 1, mutations do
      local member, refusal = newest(HEAD + i)
      if member == nil then
        return refusal
      end
    end
  end

  -- Conditions.
  for i = all_new and missing + 1 or 1, conditions do
    local place, kind, expected = HEAD + i, 'missing', ''
    if i > missing then
      local at = behind + 3 * i
      place, kind, expected = tonumber(ARGV[at]), ARGV[at + 1], ARGV[at + 2]
    end
    local record, refusal = current(place)
    if record == nil then
      return refusal
    end
    if not holds(kind, record, place, expected) then
      return write_refusal(CLEANUP) or {'conflict', text(now), text(i)}
    end
  end

  -- Mutated rows decode; what each mutation will do.
  for i = 1, mutations do
    local record, refusal = current(HEAD + i)
    if record == nil then
      return refusal
    end
    local replaced = record and live(record, now) and record
    local asked = ARGV[3 * i + 3]
    if asked == 'delete' then
      expires[i] = replaced and TOMBSTONE or NOTHING
      reply[3 + i] = replaced and 'deleted' or 'absent'
    elseif asked == 'never' and not replaced then
      expires[i] = 0
      reply[3 + i] = 'put 0 none'
    else
      local ends = expiry_of(asked, replaced)
      if not ends then
        return {'expiry', text(now), text(HEAD + i)}
      end
      expires[i] = ends
      reply[3 + i] = 'put ' .. text(ends) .. ' ' .. (replaced and text(replaced.expires) or 'none')
    end
  end

  -- The counter.
  local counter = call('GET', SEQUENCE)
  if not counter and call('EXISTS', INDEX) == 1 then
    return {'integrity', text(now), '1', 'the counter is missing: versions would be used twice'}
  end
  local last = counter_value(counter or '0')
  if not last or last >= MAX_SEQUENCE then
    return {'integrity', text(now), '1', 'the counter is no integer below 2^53'}
  end
  sequence = last + 1
  if not all_new then
    for i = 1, mutations do
      if scores[HEAD + i] and scores[HEAD + i] >= sequence then
        return {'integrity', text(now), '1', 'the counter is behind the versions of a row'}
      end
    end
  end

  -- Backlog.
  oldest = horizon(EXPIRY, BOUNDARY, now)
  if oldest and not all_new then
    for i = 1, mutations do
      local row = KEYS[HEAD + i]
      if members[HEAD + i] and expires[i] ~= NOTHING
        and call('ZCARD', row) - below(row, oldest) >= MAX_MEMBERS then
        return {'backlog', text(now), text(HEAD + i)}
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
local tail = string.char(0xa0 + #version) .. version
local lasting = tail .. '\0\194'
reply[2], reply[3] = text(now), version
local index, map, settled, due, due_soon = {}, {}, {}, {}, {}
local written = 0

-- trim(row) drops what nothing can read any more below the member that was
-- just added, and is how many are left.
local function trim(row)
  if not oldest then
    call('ZREMRANGEBYRANK', row, 0, -2)
    return 1
  end
  local dropped = below(row, oldest)
  if dropped > 0 then
    call('ZREMRANGEBYRANK', row, 0, dropped - 1)
  end
  return call('ZCARD', row)
end

for i = 1, mutations do
  local ends = expires[i]
  if ends ~= NOTHING then
    local row, key = KEYS[HEAD + i], ARGV[3 * i + 1]
    local rest = lasting
    if ends == TOMBSTONE then
      rest = tail .. '\0\195'
    elseif ends > 0 then
      rest = tail .. pack_uint(ends) .. '\194'
    end
    call('ZADD', row, version, ARGV[3 * i + 2] .. rest)
    local count = members[HEAD + i] and trim(row) or 1
    index[2 * written + 1], index[2 * written + 2] = '0', key
    map[2 * written + 1], map[2 * written + 2] = key, row
    written = written + 1
    if count > 1 or ends == TOMBSTONE or (ends > 0 and ends <= now) then
      due_soon[#due_soon + 1] = text(now + CLEANUP_DELAY)
      due_soon[#due_soon + 1] = key
    elseif ends > 0 then
      due[#due + 1] = text(ends + EXPIRED_DELAY)
      due[#due + 1] = key
    else
      settled[#settled + 1] = key
    end
  end
end

in_chunks(index, 1, function(...) call('ZADD', INDEX, ...) end)
in_chunks(map, 1, function(...) call('HSET', MAP, ...) end)
if #settled > 0 and call('EXISTS', CLEANUP) == 1 then
  in_chunks(settled, 1, function(...) call('ZREM', CLEANUP, ...) end)
end
in_chunks(due, 1, function(...) call('ZADD', CLEANUP, ...) end)
in_chunks(due_soon, 1, function(...) call('ZADD', CLEANUP, 'LT', ...) end)
return reply
