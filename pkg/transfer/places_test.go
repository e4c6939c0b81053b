package transfer

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// TestCollidingMappings holds that no record is lost to another one that is
// mapped to the same place.
func TestCollidingMappings(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		blob := func(reference string) archive.Record {
			return archive.Record{Kind: archive.Blob, Key: reference, ExpiresAt: 1 << 42}
		}
		text := lines(t, row("a/1", "v", 0).Record, row("a/2", "v", 0).Record, row("b/1", "w", 0).Record, row("foo", "1", 0).Record,
			row("foo/", "2", 0).Record, blob("a/1"), blob("b/2"), chunkItem("", "old", 1, "t1").Record, chunkItem("", "users", 1, "t2").Record)
		for name, c := range map[string]struct {
			maps, segments []Mapping
			line           int
			says           string
		}{
			"onto what stays":   {[]Mapping{{"a/", "b/"}}, nil, 4, `key "b/1" becomes "b/1", as does "a/1" before it`},
			"what stays, first": {[]Mapping{{"b/", "a/"}}, nil, 4, `key "b/1" becomes "a/1", as does "a/1" before it`},
			"two onto one":      {[]Mapping{{"a/", "c"}, {"b/", "c"}}, nil, 4, `key "b/1" becomes "c1", as does "a/1" before it`},
			"of blobs":          {[]Mapping{{"a/", "x/"}, {"b/2", "x/1"}}, nil, 8, `blob "b/2" becomes "x/1", as does "a/1" before it`},
			"of segments":       {nil, []Mapping{{"old", "users"}}, 10, `segment "users" becomes "users", as does "old" before it`},
		} {
			for _, policy := range Policies() {
				to := newSide(t, s, strings.ReplaceAll(name, " ", "-")+string(policy))
				o := ReadOptions{ImportOptions: ImportOptions{Map: c.maps, Segments: c.segments, OnConflict: policy}}
				sum, err := imports(to, text, o)
				if bad, ok := errors.AsType[*archive.BadLine](err); !ok || bad.Line != c.line || storeerr.KindOf(err) != storeerr.Invalid || !strings.HasSuffix(err.Error(), c.says) || sum.Written() > 0 {
					t.Errorf("%s, %s: %+v, %v", name, policy, sum, err)
				}
				o.KeepGoing = true
				if sum, err = imports(to, text, o); err != nil || sum.Created != 8 || sum.LeftOut != 1 {
					t.Errorf("%s, %s, going on: %+v, %v", name, policy, sum, err)
				}
			}
		}
		// Mappings that part all places, also those that swap them.
		to := newSide(t, s, "swapped")
		o := ReadOptions{ImportOptions: ImportOptions{Map: []Mapping{{"a/", "b/"}, {"b/", "a/"}, {"foo/", " foo "}}, Segments: []Mapping{{"old", "users"}, {"users", "old"}}}}
		for _, want := range []Summary{{Created: 9}, {Unchanged: 9}} {
			if sum, err := imports(to, text, o); err != nil || counts(sum) != want {
				t.Errorf("swapped: %+v, %v", sum, err)
			}
		}
	})
}

// TestRemembered holds that only those records take memory whose place one
// behind them may be mapped to.
func TestRemembered(t *testing.T) {
	t.Parallel()
	for maps, want := range map[Mapping]int{{"a/", "b/"}: 100, {"users/", "people/"}: 0, {"a/", "a/"}: 0, {"none/", "a/"}: 100, {"", "all/"}: 0} {
		im := importer{o: ImportOptions{Map: []Mapping{maps}}}
		for i := range 100 {
			old := fmt.Sprintf("%s%d", cmp.Or(strings.Replace(maps.Old, "none/", "a/", 1), "b"), i)
			r := archive.Record{Kind: archive.Row, Key: mapped(old, im.o.Map)}
			if err := im.placed(&r, old); err != nil {
				t.Fatal(err)
			}
		}
		got := 0
		for _, bucket := range im.gone.buckets {
			got += len(bucket)
		}
		if got != want {
			t.Errorf("%q: %d of 100 records are remembered, want %d", maps, got, want)
		}
	}
}
