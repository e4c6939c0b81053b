package opaque

import (
	"context"
	"fmt"
	"iter"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Version is one version in a row's history.
type Version struct {
	Member
	Sequence int64 // the batch that wrote it
	Now      int64 // the server's time when the history was begun, ms since the epoch
	Live     bool  // it makes the row live now
	Err      error // storeerr.Integrity with a *DamagedRow where it does not decode, or nil
}

// History returns every version still in a row, newest first, and the
// server's time. A key without a row has no versions and is no error; a row
// that is no sorted set is storeerr.Integrity. A row may hold 128 versions of
// 1 MiB: see [Store.Versions].
func (s *Store) History(ctx context.Context, key string) (now int64, versions []Version, err error) {
	for v, err := range s.Versions(ctx, key) {
		if err != nil {
			return 0, nil, err
		}
		now = v.Now
		versions = append(versions, v)
	}
	return now, versions, nil
}

// Versions yields what [Store.History] returns, and holds some MaxPageBytes of
// it at a time. An error is the last thing yielded.
func (s *Store) Versions(ctx context.Context, key string) iter.Seq2[Version, error] {
	return func(yield func(Version, error) bool) {
		h := history{store: s, key: key, highest: "+inf"}
		for first := true; !h.ended; {
			page, err := h.next(ctx)
			if err != nil {
				yield(Version{}, err)
				return
			}
			for _, z := range page {
				m, err := s.decode(key, z.member)
				v := Version{Member: m, Sequence: int64(z.score), Now: h.now, Err: err}
				v.Live = first && err == nil && v.LiveAt(h.now)
				first = false
				if !yield(v, nil) {
					return
				}
			}
		}
	}
}

// history pages through a row from the newest member to the oldest: what is
// written meanwhile is above, and is not mixed in. Members of one score, which
// no driver writes, are counted off.
type history struct {
	store   *Store
	key     string
	now     int64
	highest string // the score to go on at
	skip    int    // how many members of that score have been read
	ended   bool
}

func (h *history) next(ctx context.Context) ([]scored, error) {
	if err := checkKey(h.key); err != nil {
		return nil, err
	}
	reply, err := luascripts.Must("opaque_history").
		Run(ctx, h.store.rdb, []string{h.store.keys.Row(h.key)}, h.highest, h.skip, MaxPageBytes).StringSlice()
	if isWrongType(err) {
		return nil, h.store.damaged(h.key, "it is no sorted set")
	}
	if err != nil {
		return nil, storeerr.FromRedis(err, storeerr.Reads, fmt.Sprintf("reading the history of key %q", h.key))
	}
	if h.now == 0 {
		if h.now, err = parseMilliseconds(reply[0]); err != nil {
			return nil, err
		}
	}
	h.ended = reply[1] == "end"
	page, err := scoredMembers(reply[2:])
	if err != nil {
		return nil, err
	}
	for _, z := range page {
		if score := z.scoreText(); score != h.highest {
			h.highest, h.skip = score, 0
		}
		h.skip++
	}
	return page, nil
}
