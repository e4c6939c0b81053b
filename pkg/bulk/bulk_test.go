package bulk_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/bulk"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func newStore(t *testing.T, s testserver.Server) *opaque.Store {
	t.Helper()
	store, err := opaque.New(s.Client(t), "app")
	if err != nil {
		t.Fatal(err)
	}
	return store
}

var errBad = errors.New("bad line")

// lines are mutations, each a line; the one at bad, counted from 1, is an error.
func lines(mutations []opaque.Mutation, bad int) iter.Seq2[bulk.Item, error] {
	return func(yield func(bulk.Item, error) bool) {
		for i, m := range mutations {
			var err error
			if i+1 == bad {
				err = errBad
			}
			if !yield(bulk.Item{Line: int64(i + 1), Mutation: m}, err) {
				return
			}
		}
	}
}

func puts(n, size int) []opaque.Mutation {
	mutations := make([]opaque.Mutation, n)
	for i := range mutations {
		mutations[i] = opaque.Put(fmt.Sprintf("%05d", i), strings.Repeat("v", size), opaque.Never())
	}
	return mutations
}

func count(t *testing.T, store *opaque.Store) (rows int64) {
	t.Helper()
	for _, err := range store.Scan(context.Background(), opaque.ScanOptions{Live: true}) {
		if err != nil {
			t.Fatal(err)
		}
		rows++
	}
	return rows
}

func TestWrite(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		store := newStore(t, s)
		batches := 0
		o := bulk.Options{Applied: func(*opaque.Applied) { batches++ }}
		got, err := bulk.Write(ctx, store, lines(puts(1234, 10), 0), o)
		if err != nil || got.Put != 1234 || got.Line != 1234 || got.Now == 0 || batches != 3 {
			t.Errorf("%+v in %d batches, %v", got, batches, err)
		}
		// Values of the full size go into batches that the store takes.
		if got, err = bulk.Write(ctx, store, lines(puts(5, opaque.MaxValueBytes), 0), o); err != nil || got.Put != 5 {
			t.Errorf("%+v, %v", got, err)
		}
		// What comes twice is done twice, in order.
		got, err = bulk.Write(ctx, store, lines([]opaque.Mutation{
			opaque.Put("00000", "1", opaque.Never()), opaque.Put("00000", "2", opaque.Never()), opaque.Delete("00001"), opaque.Delete("00001"), opaque.Delete("none"),
		}, 0), bulk.Options{})
		if err != nil || got.Put != 2 || got.Deleted != 1 || got.Absent != 2 || got.Line != 5 {
			t.Errorf("%+v, %v", got, err)
		}
		if _, r, err := store.Read(ctx, "00000", "00001"); err != nil || r[0].Row.Value != "2" || r[1].Found {
			t.Errorf("%+v, %v", r, err)
		}
		if got, err = bulk.Write(ctx, store, lines(nil, 0), o); err != nil || got != (bulk.Result{}) {
			t.Errorf("of nothing: %+v, %v", got, err)
		}
		if rows := count(t, store); rows != 1233 {
			t.Errorf("%d rows", rows)
		}
	})
}

func TestWriteStops(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		store := newStore(t, s)
		// All that stands before a bad line is done, and nothing behind it.
		for _, bad := range []int{1, 3, 501, 700} {
			got, err := bulk.Write(ctx, store, lines(puts(1000, 1), bad), bulk.Options{})
			if !errors.Is(err, errBad) || got.Line != int64(bad-1) || got.Put != int64(bad-1) {
				t.Errorf("bad line %d: %+v, %v", bad, got, err)
			}
			if rows := count(t, store); rows != int64(bad-1) {
				t.Errorf("bad line %d: %d rows", bad, rows)
			}
		}
		// A batch that is refused leaves those before it, and nothing of itself.
		mutations := puts(1000, 1)
		mutations[600] = opaque.Put("", "no key", opaque.Never())
		got, err := bulk.Write(ctx, store, lines(mutations, 0), bulk.Options{})
		if !errors.Is(err, storeerr.Invalid) || got.Line != 500 {
			t.Errorf("%+v, %v", got, err)
		}
		cancelled, cancel := context.WithCancel(ctx)
		got, err = bulk.Write(cancelled, store, lines(puts(1000, 1), 0), bulk.Options{Applied: func(*opaque.Applied) { cancel() }})
		if err == nil || got.Line != 500 {
			t.Errorf("cancelled: %+v, %v", got, err)
		}
	})
}

func TestWriteDryRun(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		store := newStore(t, s)
		got, err := bulk.Write(context.Background(), store, lines(append(puts(600, 1), opaque.Delete("none")), 0), bulk.Options{DryRun: true})
		if err != nil || got.Put != 600 || got.Absent != 1 || got.Line != 601 {
			t.Errorf("%+v, %v", got, err)
		}
		if rows := count(t, store); rows != 0 {
			t.Errorf("%d rows", rows)
		}
	})
}
