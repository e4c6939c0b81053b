// Package bulk writes many rows of a versioned store, one after the other in
// batches of a bounded size, each of them atomic. It is what puts and deletes
// from files are made of; moving whole stores is the business of package
// transfer.
package bulk

import (
	"context"
	"iter"

	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

// The bounds of a batch, well within those of the store.
const (
	batchKeys  = 500
	batchBytes = opaque.MaxBatchBytes / 2
)

// Item is a mutation, and the line that asks for it.
type Item struct {
	Line     int64 // counted from 1, ascending
	Mutation opaque.Mutation
}

// Options bounds Write.
type Options struct {
	DryRun  bool                  // says what would be done, and changes nothing
	Applied func(*opaque.Applied) // called after each batch, or nil
}

// Result counts what Write did.
type Result struct {
	Now     int64 // the server's time at the last batch, ms since the epoch
	Line    int64 // the last line that is done, with all before it; 0 = none
	Put     int64 // rows written
	Deleted int64 // rows that became a tombstone
	Absent  int64 // deletes that found no live row
}

// Write applies items in their order. Where a key comes twice, the later one
// is in a later batch. On an error, of the store or of an item, what stands
// before it is done as far as Line says, and what is behind it is not; only
// after storeerr.UnknownOutcome one more batch may have been applied.
func Write(ctx context.Context, store *opaque.Store, items iter.Seq2[Item, error], o Options) (Result, error) {
	w := writer{store: store, options: o, keys: map[string]struct{}{}}
	for item, err := range items {
		if err == nil {
			err = w.add(ctx, item)
		} else if flushErr := w.flush(ctx); flushErr != nil {
			err = flushErr // it comes before the item that is wrong
		}
		if err != nil {
			return w.result, err
		}
	}
	err := w.flush(ctx)
	if err == nil && !o.DryRun && w.result.Line > 0 {
		// A bounded pass, as behind every write; its failure is nobody's business.
		_, _ = store.Collect(ctx, opaque.PassSize)
	}
	return w.result, err
}

// writer gathers a batch.
type writer struct {
	store   *opaque.Store
	options Options
	result  Result

	batch opaque.Batch
	keys  map[string]struct{} // of the batch
	bytes int
	line  int64 // the last line of the batch
}

// add puts an item into the batch, or where it has no room there into the next.
func (w *writer) add(ctx context.Context, item Item) error {
	m := item.Mutation
	size := len(m.Key) + len(m.Value)
	_, twice := w.keys[m.Key]
	if twice || len(w.keys) == batchKeys || w.bytes+size > batchBytes {
		if err := w.flush(ctx); err != nil {
			return err
		}
	}
	w.batch.Mutations = append(w.batch.Mutations, m)
	w.keys[m.Key] = struct{}{}
	w.bytes += size
	w.line = item.Line
	return nil
}

// flush writes the batch, if there is one.
func (w *writer) flush(ctx context.Context) error {
	if len(w.keys) == 0 {
		return nil
	}
	do := w.store.Write
	if w.options.DryRun {
		do = w.store.Preview
	}
	applied, err := do(ctx, w.batch)
	if err != nil {
		return err
	}
	w.count(applied)
	w.batch, w.bytes = opaque.Batch{}, 0
	clear(w.keys)
	if w.options.Applied != nil {
		w.options.Applied(applied)
	}
	return nil
}

func (w *writer) count(applied *opaque.Applied) {
	w.result.Now, w.result.Line = applied.Now, w.line
	for _, written := range applied.Written {
		switch written.Outcome {
		case opaque.OutcomePut:
			w.result.Put++
		case opaque.OutcomeDeleted:
			w.result.Deleted++
		case opaque.OutcomeAbsent:
			w.result.Absent++
		}
	}
}
