-- opaque_snapshots: what a versioned store knows of its snapshots.
--
-- KEYS  1 sequence, 2 snapshot-expiry, 3 snapshot-boundary
-- Reply {now, counter or empty, {snapshot id and score in snapshot-expiry, in
--       turn}, {the same of snapshot-boundary}}
--
-- Reads only.
-- Uses: clock

return {
  text(now_ms()),
  redis.call('GET', KEYS[1]) or '',
  redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES'),
  redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES'),
}
