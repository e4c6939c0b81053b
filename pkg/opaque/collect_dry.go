// Collection without changing anything: what a pass would find and do.

package opaque

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// expiredDelay is how many ms a row must have been expired before it is
// collected.
const expiredDelay = 60_000

// foresight counts what collection would do, as of the moment it was made.
type foresight struct {
	store  *Store
	now    int64
	oldest string // the lowest boundary of the open snapshots, empty where none is open
}

// foresee counts the snapshots that would be taken out, and prepares to count
// what would become of keys.
func (s *Store) foresee(ctx context.Context, c *Collected) (foresight, error) {
	now, states, err := s.Snapshots(ctx)
	f := foresight{store: s, now: now}
	for _, st := range states {
		switch {
		case st.Ended:
			c.EndedSnapshots++
		case f.oldest == "":
			f.oldest = st.Boundary
		}
	}
	return f, err
}

// collect counts what Store.collect would do with keys. All of them stay.
func (f foresight) collect(ctx context.Context, c *Collected, keys []string) (work, error) {
	done := work{stay: map[string]bool{}}
	unread, err := f.unread(ctx, keys)
	if err != nil {
		return done, err
	}
	next := 0
	v := view{store: f.store, survey: true}
	_, err = v.takePage(ctx, v.read(ctx, keys), func(key string, entry any, _ int64) bool {
		row, damage := f.store.surveyed(key, entry)
		result := f.becomes(row, damage)
		members := row.Versions
		switch {
		case f.oldest != "":
			members = max(0, unread[next].Val()-1)
		case result != "removed":
			members--
		}
		c.add(result, members)
		done.stay[key] = true
		if result == "damaged" {
			done.damaged = append(done.damaged, f.store.damaged(key, "it would be left as it is"))
		}
		next++
		return true
	})
	return done, err
}

// unread returns, where snapshots are open, how many members of each row the
// oldest of them does not read, but for the newest of those.
func (f foresight) unread(ctx context.Context, keys []string) ([]*redis.IntCmd, error) {
	if f.oldest == "" {
		return nil, nil
	}
	counts := make([]*redis.IntCmd, len(keys))
	_, err := f.store.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, key := range keys {
			counts[i] = p.ZCount(ctx, f.store.keys.Row(key), "-inf", f.oldest)
		}
		return nil
	})
	if err != nil && !isWrongType(err) {
		return nil, storeerr.FromRedis(err, storeerr.Reads, "reading rows that are due")
	}
	return counts, nil
}

// becomes is the result that opaque_collect would give for a due key.
func (f foresight) becomes(row Surveyed, damage error) string {
	m := row.Newest
	switch {
	case damage != nil:
		return "damaged"
	case row.Versions == 0:
		return "vanished"
	case f.oldest != "":
		return "held"
	case m.Tombstone, m.ExpiresAt > 0 && m.ExpiresAt+expiredDelay <= f.now:
		return "removed"
	case m.ExpiresAt > 0:
		return "waiting"
	}
	return "trimmed"
}
