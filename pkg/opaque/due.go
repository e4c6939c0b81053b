// The queue of keys that are due for collection, and walking through it.

package opaque

import (
	"context"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

type dueKey struct {
	key   string
	score float64
}

func keysOf(due []dueKey) []string {
	keys := make([]string, len(due))
	for i, d := range due {
		keys[i] = d.key
	}
	return keys
}

// due reads at most limit keys from the queue whose score lies between from
// and until, past the first skip of them. An empty until is the server's now,
// which it returns.
func (s *Store) due(ctx context.Context, from, until string, skip, limit int) (string, []dueKey, error) {
	if until == "" {
		now, err := s.rdb.Time(ctx).Result()
		if err != nil {
			return "", nil, storeerr.FromRedis(err, storeerr.Reads, "reading the server's time")
		}
		until = strconv.FormatInt(milliseconds(now), 10)
	}
	members, err := s.rdb.ZRangeByScoreWithScores(ctx, s.keys.Cleanup(),
		&redis.ZRangeBy{Min: from, Max: until, Offset: int64(skip), Count: int64(limit)}).Result()
	if err != nil {
		return "", nil, storeerr.FromRedis(err, storeerr.Reads, "reading what is due for collection")
	}
	due := make([]dueKey, len(members))
	for i, z := range members {
		due[i] = dueKey{z.Member.(string), z.Score}
	}
	return until, due, nil
}

// dueWalk goes through the keys that were due at its first step, in the order
// of the queue. Keys that are worked off leave the queue; those that stay in
// it at their score are stepped over.
type dueWalk struct {
	batch int
	until string   // the moment of the first step, in ms
	from  string   // the score to go on at
	skip  int      // how many keys of that score stay
	last  []dueKey // the batch handed out
}

func (w *dueWalk) next(ctx context.Context, s *Store) ([]string, error) {
	from := w.from
	if from == "" {
		from = "-inf"
	}
	until, due, err := s.due(ctx, from, w.until, w.skip, w.batch)
	w.until, w.last = until, due
	return keysOf(due), err
}

// stayed says which keys of the last batch are still in the queue.
func (w *dueWalk) stayed(stay map[string]bool) {
	score := w.last[len(w.last)-1].score
	from := strconv.FormatFloat(score, 'f', -1, 64)
	if from != w.from {
		w.from, w.skip = from, 0
	}
	for _, d := range w.last {
		if d.score == score && stay[d.key] {
			w.skip++
		}
	}
}
