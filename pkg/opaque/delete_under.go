package opaque

import (
	"context"
	"errors"
	"slices"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// deleteBatch is how many keys DeleteUnder deletes in one batch.
const deleteBatch = 500

// DeleteUnderOptions bounds DeleteUnder.
type DeleteUnderOptions struct {
	DryRun   bool               // counts the live rows, and changes nothing
	Progress func(DeletedUnder) // called after each batch, or nil
}

// DeletedUnder counts what DeleteUnder did.
type DeletedUnder struct {
	Now     int64   // the server's time at the last batch
	Deleted int64   // distinct keys whose live row became a tombstone
	Last    string  // the last key that was looked at: what lies behind it was not
	Skipped []error // rows left as they are: damaged, or storeerr.Backlog
}

// DeleteUnder deletes every key that begins with prefix, in batches in byte
// order, each of them atomic. Keys written meanwhile go too if they lie ahead.
// An empty prefix means every key. On an error the counts say what was done
// before it.
func (s *Store) DeleteUnder(ctx context.Context, prefix string, o DeleteUnderOptions) (DeletedUnder, error) {
	var d DeletedUnder
	if err := checkPrefix(prefix); err != nil {
		return d, err
	}
	v := &view{store: s}
	v.min, v.max = indexRange(prefix, "")
	for {
		keys, err := v.index(ctx, deleteBatch)
		if err != nil || len(keys) == 0 {
			return d, err
		}
		work := s.deleteKeys
		if o.DryRun {
			work = s.countLive
		}
		if err := work(ctx, &d, s.addressable(&d, keys)); err != nil {
			return d, err
		}
		d.Last = keys[len(keys)-1]
		if o.Progress != nil {
			o.Progress(d)
		}
	}
}

// addressable leaves out what is in the index but no key can be: empty, or too
// long.
func (s *Store) addressable(d *DeletedUnder, keys []string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		err := checkKey(key)
		if err != nil {
			d.Skipped = append(d.Skipped, s.damaged(key, "the index holds it, and "+err.Error()))
		}
		return err != nil
	})
}

// deleteKeys deletes keys in one batch, without those that refuse it.
func (s *Store) deleteKeys(ctx context.Context, d *DeletedUnder, keys []string) error {
	refused := map[string]bool{}
	for {
		var b Batch
		for _, key := range keys {
			if !refused[key] {
				b.Mutations = append(b.Mutations, Delete(key))
			}
		}
		if len(b.Mutations) == 0 {
			return nil
		}
		applied, err := s.Write(ctx, b)
		if key, ok := refusingKey(err); ok {
			refused[key] = true
			d.Skipped = append(d.Skipped, err)
			continue
		}
		if err != nil {
			return err
		}
		d.Now = applied.Now
		for _, w := range applied.Written {
			if w.Outcome == OutcomeDeleted {
				d.Deleted++
			}
		}
		return nil
	}
}

// countLive counts the live rows of keys, reading as many bytes at a time as a
// page has.
func (s *Store) countLive(ctx context.Context, d *DeletedUnder, keys []string) error {
	v := view{store: s, snapshot: Snapshot{Boundary: newest}}
	for len(keys) > 0 {
		page := v.read(ctx, keys)
		if page.err != nil {
			return page.err
		}
		d.Now = page.now
		for i, member := range page.members {
			_, isLive, err := v.row(keys[i], member, page.now)
			if err != nil {
				d.Skipped = append(d.Skipped, err)
			}
			if isLive {
				d.Deleted++
			}
		}
		keys = keys[len(page.members):]
	}
	return nil
}

// refusingKey is the key for which alone a batch was refused.
func refusingKey(err error) (string, bool) {
	if row, ok := errors.AsType[*DamagedRow](err); ok {
		return row.Key, true
	}
	if row, ok := errors.AsType[*RefusedRow](err); ok && storeerr.KindOf(err) == storeerr.Backlog {
		return row.Key, true
	}
	return "", false
}
