-- snapshot_state: whether the three records of a snapshot agree. Uses clock
-- and types.

-- Records that are written in one step end this close together, in ms: with
-- room for a guard that outlives its HASH by a second, and for other drivers.
local APART = 5000
local LONGEST = 60000
-- A snapshot ends so long after its guard: see snapshots.
local LINGERS = 1000

-- snapshot_state(expiry, boundary, scan, id, now) is {state, expiry, boundary,
-- ttl, read_at}; read_at is the boundary in the HASH. The states:
--   none      nothing is there
--   sound     all three agree
--   ended     its guard has run out, and what is left waits to be taken out
--   records   one of the three is missing or does not read
--   pinned    its HASH is gone, and its guard goes on
--   boundary  the HASH names another boundary
--   guard     HASH and guard do not end together, or not within a minute
local function snapshot_state(expiry, boundary, scan, id, now)
  local s = {
    expiry = redis.call('ZSCORE', expiry, id), boundary = redis.call('ZSCORE', boundary, id),
    ttl = redis.call('PTTL', scan),
  }
  local kind = type_of(scan)
  if kind == 'hash' then
    s.read_at = redis.call('HGET', scan, 'boundary')
  end
  local left = s.expiry and number(s.expiry) - now
  local function state()
    if kind == 'none' and not s.expiry and not s.boundary then
      return 'none'
    elseif left and left <= -LINGERS and kind == 'none' then
      return 'ended'
    elseif kind == 'none' and s.boundary and (not left or left > APART) then
      return 'pinned'
    elseif kind == 'none' and s.boundary then
      return 'sound'
    elseif kind ~= 'hash' or not left or not s.boundary or not tonumber(s.read_at or '') then
      return 'records'
    elseif tonumber(s.read_at) ~= number(s.boundary) then
      return 'boundary'
    elseif s.ttl < 0 or s.ttl > LONGEST + APART or math.abs(left - s.ttl) > APART then
      return 'guard'
    end
    return 'sound'
  end
  s.state = state()
  return s
end
