-- opaque_scan_rows: the newest member of each row at a boundary, undecoded.
-- In one step with a look at the snapshot, so that no row read here can have
-- been pruned or be newer than it.
--
-- KEYS  1 snapshot-boundary, 2 scan:<snapshot id>, 3.. rows;
--       without a snapshot the rows alone
-- ARGV  1 snapshot id, or empty; 2 boundary, or +inf; 3 bytes to stop behind
-- Reply {rows, now, member..} a member is nil for a row with none, 1 for a key
--         that is no sorted set. It may stop before the last row, never before
--         the second.
--       {expired}
--
-- Reads only.
-- Uses: clock

local boundary, budget = ARGV[2], tonumber(ARGV[3])
local first = 1
if ARGV[1] ~= '' then
  first = 3
  local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
  if redis.call('EXISTS', KEYS[2]) == 0 or not score or number(score) ~= number(boundary) then
    return {'expired'}
  end
end

local newest = boundary == '+inf' and math.huge or number(boundary)

-- at_boundary(row) begins with the newest member at the boundary, or is an
-- error. Most rows have nothing newer, and a range by rank costs half of one
-- by score.
local function at_boundary(row)
  local found = redis.pcall('ZREVRANGE', row, '0', '0', 'WITHSCORES')
  if found[2] and number(found[2]) > newest then
    found = redis.call('ZREVRANGEBYSCORE', row, boundary, '-inf', 'LIMIT', '0', '1')
  end
  return found
end

local reply = {'rows', text(now_ms())}
local read = 0
for i = first, #KEYS do
  local found = at_boundary(KEYS[i])
  local member = found[1]
  if found.err then
    if not string.find(found.err, 'WRONGTYPE', 1, true) then
      return found
    end
    member = 1
  elseif member then
    read = read + #member
  end
  reply[#reply + 1] = member or false
  if read >= budget then
    break
  end
end
return reply
