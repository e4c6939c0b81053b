// Package migrate brings rows and blobs of older layouts into the current one.
//
// [Plan] says what there is, and what stands in the way. [Apply] writes, and
// leaves the old keys alone. [Retire] deletes each old key that has its equal
// in the current layout. All of them walk the keys of the server, remember
// nothing of a key, and may be run again: what is done is found done.
//
// The rows of v3 untagged share their keys with the current layout. They go to
// another prefix; or in place, where a row's old members are kept in its
// quarantine until they are retired.
package migrate

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Values says what the values of untagged rows are.
type Values string

// The forms of values. Nothing marks a store that keeps text.
const (
	Unsaid Values = ""
	Raw    Values = "raw"    // bytes
	Base64 Values = "base64" // the base64 text of bytes
)

// Options say what to migrate. The zero value of all but the prefixes is good.
type Options struct {
	From    string            // prefix of the old keys
	To      string            // prefix of the new ones; may be the same but for v3 untagged
	Layouts []keyspace.Layout // of Layouts; empty is all
	InPlace bool              // v3 untagged rows stay under their keys
	Values  Values            // of v3 untagged rows

	// SkipCollisions leaves alone what the current layout has otherwise. Else
	// nothing is written where there is any.
	SkipCollisions bool
	// DryRun makes Apply and Retire refuse what they would, and count, and change
	// nothing.
	DryRun bool

	Problem  func(error)        // told of each record that is left alone, or nil
	Progress func(looked int64) // told now and then how many keys were looked at, or nil
}

// Layouts returns the layouts that can be migrated.
func Layouts() []keyspace.Layout {
	return []keyspace.Layout{
		keyspace.Untagged, keyspace.OpaqueV1, keyspace.Tagless,
		keyspace.RelocationOpaqueV1, keyspace.Payload, keyspace.PlainBlob, keyspace.RelocationRoot,
	}
}

// Count is what was found of a layout, and what became of it. A key that
// SCAN returns twice counts twice.
type Count struct {
	Layout keyspace.Layout
	Store  keyspace.Store
	Found  int64 // records: each is one of the next eight, or Kept
	Bytes  int64 // of the values of those that read

	Ready      int64 // the current layout has no such record
	Done       int64 // it has an equal one
	Expired    int64 // nothing to migrate
	Tombstones int64 // nothing to migrate
	Collisions int64 // it has another one
	Damaged    int64 // it does not read, or is over the limits
	Written    int64 // by Apply
	Gone       int64 // before it was read

	// Of v3 untagged: values that may be base64 text, and those that are none.
	// One of the latter shows that the store keeps bytes.
	Ambiguous, NotBase64 int64

	// Old keys that Retire deleted, and those that it kept; or untagged rows that
	// Apply left for its next run.
	Retired, Kept int64

	// Beside is how many keys the layout has beside its records, at the end: an
	// index, a counter, what scans left. Retire deletes them behind the last
	// record, and leaves any that is not of its type.
	Beside int64
}

// Check returns storeerr.Invalid where the options do not fit together.
func (o Options) Check() error {
	for _, prefix := range []string{o.From, o.To} {
		if _, err := opaque.NewKeys(prefix); err != nil {
			return err
		}
	}
	for _, layout := range o.Layouts {
		if !slices.Contains(Layouts(), layout) {
			return storeerr.New(storeerr.Invalid, "no older layout %q: one of %v", layout, Layouts())
		}
	}
	switch {
	case !slices.Contains([]Values{Unsaid, Raw, Base64}, o.Values):
		return storeerr.New(storeerr.Invalid, "values are %s or %s, not %q", Raw, Base64, o.Values)
	case o.InPlace && o.From != o.To:
		return storeerr.New(storeerr.Invalid, "rows go to another prefix or stay in place, not both")
	}
	return nil
}

// Plan counts what Apply would do, and changes nothing. Of a layout that is not
// there it says nothing; where no key is of a versioned store or a blob store
// of the prefix it is storeerr.NotFound, and so are the others.
func Plan(ctx context.Context, rdb redis.UniversalClient, o Options) ([]Count, error) {
	m, err := newMigration(rdb, o, plans)
	if err != nil {
		return nil, err
	}
	if err := m.run(ctx); err != nil {
		return nil, err
	}
	return m.result(), nil
}

// Apply writes what is ready. Before that it plans, and refuses: with
// storeerr.Conflict where records collide, unless they are to be skipped, and
// with storeerr.Invalid where untagged rows need to be told more of. When an
// error ends it midway, the counts say what was done.
func Apply(ctx context.Context, rdb redis.UniversalClient, o Options) ([]Count, error) {
	planned, err := plan(ctx, rdb, o, applies)
	if err != nil {
		return nil, err
	}
	if c := planned.counts[keyspace.Untagged]; planned.decoded > 0 && c.Found > c.Done {
		return nil, storeerr.New(storeerr.Invalid, "nothing has changed: the values of %d rows that were rewritten before were base64 text, and %d rows are left", planned.decoded, c.Found-c.Done).
			WithHint("say --values again")
	}
	counts := planned.result()
	if o.DryRun {
		return counts, nil
	}
	for _, c := range counts {
		if c.Collisions > 0 && !o.SkipCollisions {
			return nil, storeerr.New(storeerr.Conflict, "nothing has changed: %d records of layout %s are there in the current one, and differ", c.Collisions, c.Layout).
				WithHint("look at the plan; --on-conflict skip leaves them as they are, and writes the others")
		}
	}
	m, err := newMigration(rdb, o, applies)
	if err != nil {
		return nil, err
	}
	if n := planned.rewritten; n > 0 {
		// The walk would also meet those that it makes itself.
		c := m.count(keyspace.Untagged, keyspace.Opaque)
		c.Found, c.Done = n, n
	}
	err = m.run(ctx)
	return m.result(), err
}

// Retire deletes the old keys that have their equal in the current layout, and
// those of expired and deleted records. Others are kept, each being told to
// Problem, and so is what a layout keeps beside its records until all are gone.
//
// A key goes in one script, if it is what was read and compared. Whoever changes
// the new row or blob behind that has already seen what the old key held.
func Retire(ctx context.Context, rdb redis.UniversalClient, o Options) ([]Count, error) {
	planned, err := plan(ctx, rdb, o, retires)
	if err != nil {
		return nil, err
	}
	m, err := newMigration(rdb, o, retires)
	if err != nil {
		return nil, err
	}
	if c := planned.counts[keyspace.Untagged]; c != nil && c.Damaged == 0 && planned.staying == 0 {
		m.alone = "1"
	}
	if o.DryRun && o.From != o.To {
		if m.held, err = m.heldBySnapshot(ctx); err != nil {
			return nil, err
		}
	}
	err = m.run(ctx)
	return m.result(), err
}

// plan is Plan before another mode, and refuses untagged rows that need to be
// told more of. It speaks of problems where that mode will not do so. Where what
// is to be retired is retired already, it finds nothing.
func plan(ctx context.Context, rdb redis.UniversalClient, o Options, before mode) (*migration, error) {
	if before != applies || !o.DryRun {
		o.Problem = nil
	}
	m, err := newMigration(rdb, o, plans)
	if err != nil {
		return nil, err
	}
	m.retiring = before == retires
	if err := m.run(ctx); err != nil {
		return nil, err
	}
	c := m.counts[keyspace.Untagged]
	switch {
	case c == nil || c.Found == c.Done:
	case o.From == o.To && !o.InPlace:
		return nil, storeerr.New(storeerr.Invalid, "nothing has changed: the %d untagged rows share their keys with the current layout", c.Found-c.Done).
			WithHint("name another prefix by --to-prefix, or rewrite them by --in-place")
	case c.Ambiguous > 0 && o.Values == Unsaid:
		return nil, storeerr.New(storeerr.Invalid, "nothing has changed: %d values of untagged rows may be bytes or base64 text, %d are no base64", c.Ambiguous, c.NotBase64).
			WithHint("ask the application, and say --values raw or --values base64")
	}
	return m, nil
}
