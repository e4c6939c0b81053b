package opaque

import (
	"context"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Version is one version in a row's history.
type Version struct {
	Member
	Sequence int64 // the batch that wrote it
	Live     bool  // it makes the row live now
	Err      error // storeerr.Integrity with a *DamagedRow where it does not decode, or nil
}

// History returns every version still in a row, newest first, and the
// server's time. A key without a row has no versions and is no error; a row
// that is no sorted set is storeerr.Integrity.
func (s *Store) History(ctx context.Context, key string) (now int64, versions []Version, err error) {
	if err := checkKey(key); err != nil {
		return 0, nil, err
	}
	row := s.keys.Row(key)
	below := "+inf"
	// Newest to oldest: what is written meanwhile is above, and is not mixed in.
	for {
		var clock *redis.TimeCmd
		var members *redis.ZSliceCmd
		_, err := s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			clock = p.Time(ctx)
			members = p.ZRevRangeByScoreWithScores(ctx, row, &redis.ZRangeBy{Max: below, Min: "-inf", Count: historyPage})
			return nil
		})
		if isWrongType(err) {
			return 0, nil, s.damaged(key, "it is no sorted set")
		}
		if err != nil {
			return 0, nil, storeerr.FromRedis(err, storeerr.Reads, fmt.Sprintf("reading the history of key %q", key))
		}
		if now == 0 {
			now = milliseconds(clock.Val())
		}
		for _, z := range members.Val() {
			v := s.version(key, z)
			v.Live = len(versions) == 0 && v.Err == nil && v.LiveAt(now)
			versions = append(versions, v)
		}
		if len(members.Val()) < historyPage {
			return now, versions, nil
		}
		below = "(" + strconv.FormatFloat(members.Val()[historyPage-1].Score, 'f', -1, 64)
	}
}

// historyPage bounds one reply: rows have at most a little over a hundred
// versions, of at most 1 MiB each.
const historyPage = 32

func (s *Store) version(key string, z redis.Z) Version {
	m, err := s.decode(key, z.Member.(string))
	return Version{Member: m, Sequence: int64(z.Score), Err: err}
}
