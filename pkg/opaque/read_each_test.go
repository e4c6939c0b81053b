package opaque

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// TestReadEach holds that many keys are read in their order, over all pages,
// and that a damaged one leaves the others alone.
func TestReadEach(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb := s.Client(t)
		store, err := New(rdb, "app")
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		var batch Batch
		for i := range 2500 {
			keys = append(keys, fmt.Sprint("key/", i))
			if i%2 == 0 {
				batch.Mutations = append(batch.Mutations, Put(keys[i], fmt.Sprint(i), Never()))
			}
		}
		if _, err := store.Write(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		// These do not fit into one page.
		for _, key := range []string{"large/1", "large/2", "large/3", "large/4", "large/5"} {
			keys = append(keys, key)
			if _, err := store.Write(t.Context(), Batch{Mutations: []Mutation{Put(key, strings.Repeat("v", MaxValueBytes), Never())}}); err != nil {
				t.Fatal(err)
			}
		}
		keys = append(keys, "key/0") // again
		if err := rdb.Set(t.Context(), store.Keys().Row("key/1"), "foreign", 0).Err(); err != nil {
			t.Fatal(err)
		}
		i := 0
		for r, err := range store.ReadEach(t.Context(), keys) {
			if err != nil {
				t.Fatal(err)
			}
			switch found := i%2 == 0 && i < 2500 || i == 2505 || strings.HasPrefix(keys[i], "large/"); {
			case r.Key != keys[i] || r.Found != found:
				t.Errorf("%d: %q, found %v, want %q, %v", i, r.Key, r.Found, keys[i], found)
			case keys[i] == "key/1" != (r.Err != nil), r.Err != nil && !errors.Is(r.Err, storeerr.Integrity):
				t.Errorf("%q: %v", r.Key, r.Err)
			case found && i < 2500 && r.Row.Value != fmt.Sprint(i), i >= 2500 && i < 2505 && len(r.Row.Value) != MaxValueBytes:
				t.Errorf("%q has %d bytes", r.Key, len(r.Row.Value))
			}
			i++
		}
		if i != len(keys) {
			t.Errorf("%d readings of %d keys", i, len(keys))
		}
		for range store.ReadEach(t.Context(), nil) {
			t.Error("a reading of no key")
		}
		for _, err := range store.ReadEach(t.Context(), []string{"a", ""}) {
			if !errors.Is(err, storeerr.Invalid) {
				t.Errorf("an empty key: %v", err)
			}
		}
	})
}
