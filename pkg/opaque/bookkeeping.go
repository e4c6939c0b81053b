package opaque

import (
	"context"
	"fmt"
	"strconv"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Bookkeeping is what a store keeps beside its rows, at one moment.
type Bookkeeping struct {
	Now       int64  // the server's time, ms since the epoch
	Counter   string // batches applied so far, in decimal; empty where there is no counter
	Keys      int64  // entries of the index
	Cleanup   int64  // entries of the cleanup queue
	Due       int64  // those of them that are due for collection
	OldestDue int64  // since when the oldest of them is, ms since the epoch; 0 where none is
}

// Exists tells whether there is anything of the store.
func (b Bookkeeping) Exists() bool { return b.Counter != "" || b.Keys > 0 || b.Cleanup > 0 }

// Bookkeeping reads the store's counter, the length of its index and what
// waits for collection. A key of these that is of another type is
// storeerr.Integrity.
func (s *Store) Bookkeeping(ctx context.Context) (Bookkeeping, error) {
	names := []string{s.keys.Sequence(), s.keys.Index(), s.keys.Cleanup()}
	reply, err := luascripts.Must("opaque_bookkeeping").Run(ctx, s.rdb, names).StringSlice()
	if err != nil {
		return Bookkeeping{}, storeerr.FromRedis(err, storeerr.Reads, "reading the store's bookkeeping")
	}
	if reply[0] == "integrity" {
		return Bookkeeping{}, s.bookkeeping(names, reply)
	}
	b := Bookkeeping{Counter: reply[1]}
	for i, n := range map[int]*int64{0: &b.Now, 2: &b.Keys, 3: &b.Cleanup, 4: &b.Due} {
		if *n, err = parseMilliseconds(reply[i]); err != nil {
			return Bookkeeping{}, err
		}
	}
	if b.Due > 0 {
		oldest, err := strconv.ParseFloat(reply[5], 64)
		if err != nil {
			return Bookkeeping{}, fmt.Errorf("reading the answer: %w", err)
		}
		b.OldestDue = int64(oldest)
	}
	return b, nil
}
