// Collection without changing anything: what a pass would find and do.

package opaque

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// expiredDelay is how many ms a row must have been expired before it is
// collected.
const expiredDelay = 60_000

// endSnapshots takes out every snapshot that has run out, or counts them.
func (s *Store) endSnapshots(ctx context.Context, c *Collected, dryRun bool) error {
	if dryRun {
		_, states, err := s.Snapshots(ctx)
		for _, st := range states {
			if st.Ended {
				c.EndedSnapshots++
			}
		}
		return err
	}
	for {
		before := c.EndedSnapshots
		if _, err := s.collect(ctx, c, nil); err != nil || c.EndedSnapshots == before {
			return err
		}
	}
}

// dryRunRows bounds the rows that one reply of a dry run brings whole.
const dryRunRows = 16

// wouldCollect counts what collect would do with keys. All of them stay.
func (s *Store) wouldCollect(ctx context.Context, c *Collected, keys []string) (map[string]bool, error) {
	stay := map[string]bool{}
	for chunk := range slices.Chunk(keys, dryRunRows) {
		if err := s.foresee(ctx, c, chunk); err != nil {
			return nil, err
		}
		for _, key := range chunk {
			stay[key] = true
		}
	}
	return stay, nil
}

func (s *Store) foresee(ctx context.Context, c *Collected, keys []string) error {
	now, states, err := s.Snapshots(ctx)
	if err != nil {
		return err
	}
	oldest, snapshotsOpen := "+inf", false
	for _, st := range states {
		if !st.Ended && st.Boundary != "" {
			oldest, snapshotsOpen = st.Boundary, true
			break
		}
	}
	newest := make([]*redis.StringSliceCmd, len(keys))
	counts, unread := make([]*redis.IntCmd, len(keys)), make([]*redis.IntCmd, len(keys))
	_, err = s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, key := range keys {
			row := s.keys.Row(key)
			newest[i] = p.ZRevRange(ctx, row, 0, 0)
			counts[i] = p.ZCard(ctx, row)
			unread[i] = p.ZCount(ctx, row, "-inf", oldest)
		}
		return nil
	})
	if err != nil && !isWrongType(err) {
		return storeerr.FromRedis(err, storeerr.Reads, "reading rows that are due")
	}
	for i, key := range keys {
		result := s.wouldBecome(key, newest[i], snapshotsOpen, now)
		members := counts[i].Val()
		if result != "removed" {
			members = max(0, unread[i].Val()-1)
		}
		c.add(result, members)
		if result == "damaged" {
			c.Damaged = append(c.Damaged, s.damaged(key, "it would be left as it is"))
		}
	}
	return nil
}

// wouldBecome is the result that opaque_collect would give for a due key.
func (s *Store) wouldBecome(key string, newest *redis.StringSliceCmd, snapshotsOpen bool, now int64) string {
	if newest.Err() != nil {
		return "damaged"
	}
	if len(newest.Val()) == 0 {
		return "vanished"
	}
	if snapshotsOpen {
		return "held"
	}
	m, err := s.decode(key, newest.Val()[0])
	switch {
	case err != nil:
		return "damaged"
	case m.Tombstone, m.ExpiresAt > 0 && m.ExpiresAt+expiredDelay <= now:
		return "removed"
	case m.ExpiresAt > 0:
		return "waiting"
	}
	return "trimmed"
}
