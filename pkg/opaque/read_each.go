package opaque

import (
	"context"
	"fmt"
	"iter"
)

// ReadEach yields what [Store.Read] returns of many keys, in their order, and
// holds some MaxPageBytes of it at a time: so rows may be of several moments.
// An error of the connection is the last thing yielded.
func (s *Store) ReadEach(ctx context.Context, keys []string) iter.Seq2[Reading, error] {
	return func(yield func(Reading, error) bool) {
		for _, key := range keys {
			if err := checkKey(key); err != nil {
				yield(Reading{}, err)
				return
			}
		}
		v := view{store: s, snapshot: Snapshot{Boundary: newest}}
		for len(keys) > 0 {
			page := v.read(ctx, keys)
			if page.err != nil {
				yield(Reading{}, fmt.Errorf("%s: %w", reading(keys), page.err))
				return
			}
			for i := range page.members {
				if !yield(v.reading(keys[i], page.members[i], page.now), nil) {
					return
				}
			}
			keys = keys[len(page.members):]
		}
	}
}

// reading is what a page tells of a key.
func (v *view) reading(key string, member any, now int64) Reading {
	row, found, err := v.row(key, member, now)
	deleted := row.Tombstone
	if !found {
		row = Row{}
	}
	return Reading{Key: key, Found: found, Row: row, Deleted: deleted, Err: err}
}
