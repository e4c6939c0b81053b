// The queue of keys that are due for collection, and walking through it.

package opaque

import (
	"context"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// due reads at most limit keys from the queue whose score lies between from
// and until, past the first skip of them. An empty until is the server's now,
// which it returns.
func (s *Store) due(ctx context.Context, from, until string, skip, limit int) (string, []scored, error) {
	reply, err := luascripts.Must("opaque_due").
		Run(ctx, s.rdb, []string{s.keys.Cleanup()}, from, until, skip, limit).StringSlice()
	if isWrongType(err) {
		return "", nil, storeerr.New(storeerr.Integrity, "the queue of what is due is no sorted set").AtKey(s.keys.Cleanup())
	}
	if err != nil {
		return "", nil, storeerr.FromRedis(err, storeerr.Reads, "reading what is due for collection")
	}
	due, err := scoredMembers(reply[1:])
	return reply[0], due, err
}

func membersOf(entries []scored) []string {
	members := make([]string, len(entries))
	for i, z := range entries {
		members[i] = z.member
	}
	return members
}

// dueWalk goes through the keys that were due at its first step, in the order
// of the queue. Keys that are worked off leave the queue; those that stay in
// it at their score are stepped over.
type dueWalk struct {
	batch int
	until string   // the moment of the first step, in ms
	from  string   // the score to go on at
	skip  int      // how many keys of that score stay
	last  []scored // the batch handed out
}

func (w *dueWalk) next(ctx context.Context, s *Store) ([]string, error) {
	from := w.from
	if from == "" {
		from = "-inf"
	}
	until, due, err := s.due(ctx, from, w.until, w.skip, w.batch)
	w.until, w.last = until, due
	return membersOf(due), err
}

// stayed says which keys of the last batch are still in the queue.
func (w *dueWalk) stayed(stay map[string]bool) {
	end := w.last[len(w.last)-1]
	if from := end.scoreText(); from != w.from {
		w.from, w.skip = from, 0
	}
	for _, d := range w.last {
		if d.score == end.score && stay[d.member] {
			w.skip++
		}
	}
}
