package opaque

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// member is a version as Redis holds it.
func member(key, value, version string) string {
	return string(Member{Key: key, Value: value, Version: version}.Append(nil))
}

// A row whose members fill several pages, some of one score across the edge
// of a page, comes whole.
func TestVersionsOfOneScore(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		const versions = 30
		large := strings.Repeat("x", MaxValueBytes)
		for i := range versions {
			score := i / 7 * 10 // seven of each
			f.do(t, "ZADD", f.keys.Row("k"), score, member("k", large, fmt.Sprintf("%02d", i)))
		}
		next := versions
		for v, err := range f.Versions(context.Background(), "k") {
			next--
			if want := fmt.Sprintf("%02d", next); err != nil || v.Err != nil || v.Version != want || v.Sequence != int64(next/7*10) {
				t.Fatalf("version %q at %d, want %s: %v, %v", v.Version, v.Sequence, want, v.Err, err)
			}
			if len(v.Value) != MaxValueBytes || v.Live != (next == versions-1) || v.Now == 0 {
				t.Errorf("version %q: %d bytes, live %v at %d", v.Version, len(v.Value), v.Live, v.Now)
			}
		}
		if next != 0 {
			t.Errorf("%d versions did not come", next)
		}
		for range f.Versions(context.Background(), "k") {
			break
		}
	})
}

// Rows of many small members end, too.
func TestVersionsOfManyMembers(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		for _, n := range []int{1, 4, 5, 8, 1001} {
			key := fmt.Sprint(n)
			args := []any{"ZADD", f.keys.Row(key)}
			for i := range n {
				args = append(args, i+1, member(key, "", fmt.Sprint(i+1)))
			}
			f.do(t, args...)
			_, found, err := f.History(context.Background(), key)
			if err != nil || len(found) != n || found[n-1].Version != "1" {
				t.Errorf("%d of %d versions, %v", len(found), n, err)
			}
		}
	})
}

// Sizes come whole, too, whatever a page holds.
func TestSizes(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		f.put(t, "small", "v")
		const versions = 30
		large := strings.Repeat("x", MaxValueBytes)
		for i := range versions {
			f.do(t, "ZADD", f.keys.Row("large"), i/7*10, member("large", large, fmt.Sprintf("%02d", i)))
		}
		f.do(t, "SET", f.keys.Row("string"), "x")
		got, err := f.Sizes(context.Background(), "small", "large", "none", "string", "small")
		if err != nil || len(got) != 5 || len(got[1]) != versions || len(got[2])+len(got[3]) != 0 {
			t.Fatalf("%v, %v", got, err)
		}
		for i, v := range got[1] {
			if want := (VersionSize{float64(i / 7 * 10), int64(len(member("large", large, "00")))}); v != want {
				t.Errorf("version %d: %+v, want %+v", i, v, want)
			}
		}
		if want := (VersionSize{1, int64(len(member("small", "v", "1")))}); len(got[4]) != 1 || got[0][0] != want || got[4][0] != want {
			t.Errorf("small: %+v and %+v, want %+v", got[0], got[4], want)
		}
	})
}

func TestVersionsRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t, testserver.Embedded(t))
	for _, key := range []string{"", strings.Repeat("k", MaxKeyBytes+1)} {
		if _, _, err := f.History(context.Background(), key); !errors.Is(err, storeerr.Invalid) {
			t.Errorf("a key of %d bytes: %v", len(key), err)
		}
	}
}
