-- opaque_verify_snapshot: the three records of a snapshot, in one step.
--
-- KEYS  1 snapshot-expiry, 2 snapshot-boundary, 3 scan:<snapshot id>
-- ARGV  1 snapshot id
-- Reply {now, state, expiry, boundary, TTL of the HASH in ms, the HASH's boundary}
--         state is none, sound, ended, records, pinned, boundary or guard; what
--         is not there is nil
--
-- Reads only.
-- Uses: clock, types, snapshot_state

local now = now_ms()
local s = snapshot_state(KEYS[1], KEYS[2], KEYS[3], ARGV[1], now)
return {text(now), s.state, s.expiry or false, s.boundary or false, text(s.ttl), s.read_at or false}
