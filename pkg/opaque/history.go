package opaque

import (
	"context"
	"fmt"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
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
	// Newest to oldest: what is written meanwhile is above, and is not mixed in.
	for highest := "+inf"; ; {
		reply, err := luascripts.Must("opaque_history").
			Run(ctx, s.rdb, []string{s.keys.Row(key)}, highest, historyPage).StringSlice()
		if isWrongType(err) {
			return 0, nil, s.damaged(key, "it is no sorted set")
		}
		if err != nil {
			return 0, nil, storeerr.FromRedis(err, storeerr.Reads, fmt.Sprintf("reading the history of key %q", key))
		}
		if now == 0 {
			if now, err = parseMilliseconds(reply[0]); err != nil {
				return 0, nil, err
			}
		}
		page, err := scoredMembers(reply[1:])
		if err != nil {
			return 0, nil, err
		}
		for _, z := range page {
			v := s.version(key, z)
			v.Live = len(versions) == 0 && v.Err == nil && v.LiveAt(now)
			versions = append(versions, v)
		}
		if len(page) < historyPage {
			return now, versions, nil
		}
		highest = "(" + page[historyPage-1].scoreText()
	}
}

// historyPage bounds one reply: rows have at most a little over a hundred
// versions, of at most 1 MiB each.
const historyPage = 32

func (s *Store) version(key string, z scored) Version {
	m, err := s.decode(key, z.member)
	return Version{Member: m, Sequence: int64(z.score), Err: err}
}
