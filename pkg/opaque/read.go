package opaque

import (
	"context"
	"fmt"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Reading is what a key held at one moment.
type Reading struct {
	Key   string
	Found bool
	Row   Row // the live row, when found
	// Deleted tells of a row that is not found that its newest version is a
	// tombstone, which collection has left so far.
	Deleted bool
	Err     error // storeerr.Integrity with a DamagedRow, or nil
}

// Read returns the current rows of keys, in their order, and the server's
// time: one round trip, one moment. Missing, tombstoned and expired rows are
// not found; a damaged one carries its error and leaves the others alone.
func (s *Store) Read(ctx context.Context, keys ...string) (now int64, readings []Reading, err error) {
	if len(keys) == 0 {
		return 0, nil, storeerr.New(storeerr.Invalid, "no key to read")
	}
	for _, key := range keys {
		if err := checkKey(key); err != nil {
			return 0, nil, err
		}
	}
	v := view{store: s, snapshot: Snapshot{Boundary: newest}}
	page := v.readAll(ctx, keys)
	if page.err != nil {
		return 0, nil, fmt.Errorf("%s: %w", reading(keys), page.err)
	}
	readings = make([]Reading, len(keys))
	for i, key := range keys {
		readings[i] = v.reading(key, page.members[i], page.now)
	}
	return page.now, readings, nil
}

func reading(keys []string) string {
	if len(keys) == 1 {
		return fmt.Sprintf("reading key %q", keys[0])
	}
	return fmt.Sprintf("reading %d keys", len(keys))
}
