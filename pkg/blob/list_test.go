package blob_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// list returns the sizes of what is listed, and the errors by reference.
func list(t *testing.T, store *blob.Store, prefix string) (map[string]int64, map[string]error) {
	t.Helper()
	sizes, errs := map[string]int64{}, map[string]error{}
	for info, err := range store.List(t.Context(), prefix) {
		if err != nil {
			errs[info.Reference] = err
			continue
		}
		if _, twice := sizes[info.Reference]; twice {
			t.Errorf("%q is listed twice", info.Reference)
		}
		sizes[info.Reference] = info.Size
	}
	return sizes, errs
}

func TestListMatchesPrefixesLiterally(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *blob.Store) {
		for _, reference := range []string{"a[b]c", "abc", "a*c", "a?c", `a\c`, `a\Ec`, "Ж:{x}", "a\nc"} {
			mustPut(t, store, reference, reference)
		}
		rdb.Set(t.Context(), "x"+store.Key("abc"), "of another prefix", 0)
		for _, test := range []struct {
			prefix string
			want   []string
		}{
			{"a[b]", []string{"a[b]c"}},
			{"a[", []string{"a[b]c"}},
			{"a*", []string{"a*c"}},
			{"a?", []string{"a?c"}},
			{`a\`, []string{`a\Ec`, `a\c`}},
			{`a\E`, []string{`a\Ec`}},
			{"Ж", []string{"Ж:{x}"}},
			{"b", nil},
			{"", []string{"a\nc", "a*c", "a?c", "a[b]c", `a\Ec`, `a\c`, "abc", "Ж:{x}"}},
		} {
			sizes, errs := list(t, store, test.prefix)
			if got := slices.Sorted(maps.Keys(sizes)); !slices.Equal(got, test.want) || len(errs) > 0 {
				t.Errorf("prefix %q lists %q, %v, want %q", test.prefix, got, errs, test.want)
			}
		}
	})
}

func TestListGoesOnAfterForeignKeys(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *blob.Store) {
		rdb.HSet(t.Context(), store.Key("hash"), "f", "v")
		rdb.Set(t.Context(), store.Key(""), "no reference", 0)
		mustPut(t, store, "good", "12345")
		sizes, errs := list(t, store, "")
		if len(sizes) != 1 || sizes["good"] != 5 {
			t.Errorf("listed %v, want good with 5 bytes", sizes)
		}
		if len(errs) != 2 {
			t.Errorf("errors %v, want two", errs)
		}
		for _, reference := range []string{"hash", ""} {
			wantKind(t, errs[reference], storeerr.Integrity)
		}
	})
}

func TestListManyAndStopEarly(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *blob.Store) {
		const n = 5000
		_, err := rdb.Pipelined(t.Context(), func(p redis.Pipeliner) error {
			for i := range n {
				p.Set(t.Context(), store.Key(fmt.Sprint("r", i)), "x", 0)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if sizes, errs := list(t, store, ""); len(sizes) != n || len(errs) > 0 {
			t.Errorf("listed %d blobs, %d errors, want %d and none", len(sizes), len(errs), n)
		}
		for info, err := range store.List(t.Context(), "r1") {
			if err != nil || info.ExpiresAt != 0 || info.Now == 0 {
				t.Errorf("first of r1: %+v, %v", info, err)
			}
			break
		}
	})
}

func TestListReportsAFailureOnce(t *testing.T) {
	t.Parallel()
	store := open(t, redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1}), "p")
	count := 0
	for _, err := range store.List(t.Context(), "") {
		wantKind(t, err, storeerr.Unavailable)
		count++
	}
	if count != 1 {
		t.Errorf("yielded %d times, want once", count)
	}
}
