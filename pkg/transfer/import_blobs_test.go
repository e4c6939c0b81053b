package transfer

// Blobs among what is moved: they are never overwritten, and they need an end.

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func putBlob(t *testing.T, side Side, reference, payload string, retention int64) {
	t.Helper()
	if _, err := side.Blob.Put(context.Background(), reference, []byte(payload), retention); err != nil {
		t.Fatal(err)
	}
}

// moves are the ways from a side into another one that can be looked through
// first.
func moves(t *testing.T, from Side) map[string]func(to Side, o ImportOptions) (Summary, error) {
	t.Helper()
	text := archived(t, from, ExportOptions{})
	return map[string]func(to Side, o ImportOptions) (Summary, error){
		"import": func(to Side, o ImportOptions) (Summary, error) {
			return imports(to, text, ReadOptions{ImportOptions: o})
		},
		"copy": func(to Side, o ImportOptions) (Summary, error) {
			return Copy(context.Background(), from, to, ExportOptions{}, o)
		},
	}
}

// TestOverwriteStopsAtBlobs holds that a blob of other bytes is found before
// anything is overwritten, and that all else is, if it is left out.
func TestOverwriteStopsAtBlobs(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		from := newSide(t, s, "from")
		write(t, from, opaque.Put("k", "theirs", opaque.Never()))
		putBlob(t, from, "a", "theirs", 3_600_000)
		putBlob(t, from, "b", "theirs", 3_600_000)
		putBlob(t, from, "c", "theirs", 3_600_000)
		for way, move := range moves(t, from) {
			to := newSide(t, s, way)
			write(t, to, opaque.Put("k", "ours", opaque.Never()))
			putBlob(t, to, "b", "others", 3_600_000)
			before := contents(t, to)
			sum, err := move(to, ImportOptions{OnConflict: Overwrite})
			if !errors.Is(err, storeerr.Conflict) || !errors.As(err, new(*UntouchedError)) || sum.Done() > 0 ||
				!strings.Contains(err.Error(), `records conflict, the first: blob "b" holds other bytes`) || !strings.Contains(storeerr.HintOf(err), "blob delete") {
				t.Errorf("%s: %+v, %v, hint %q", way, sum, err, storeerr.HintOf(err))
			}
			sum, err = move(to, ImportOptions{OnConflict: Overwrite, DryRun: true})
			if want := (Summary{Created: 2, Replaced: 1, Conflicts: 1}); err != nil || counts(sum) != want || !strings.Contains(storeerr.HintOf(sum.ConflictOf(Overwrite)), "--keep-going") {
				t.Errorf("%s, dry: %+v, %v", way, sum, err)
			}
			if after := contents(t, to); !maps.Equal(before, after) {
				t.Errorf("%s: %v became %v", way, before, after)
			}

			want := Summary{Created: 2, Replaced: 1, LeftOut: 1}
			for _, dry := range []bool{true, false} {
				var toldOf []error
				sum, err = move(to, ImportOptions{OnConflict: Overwrite, KeepGoing: true, DryRun: dry, Told: func(err error) { toldOf = append(toldOf, err) }})
				if err != nil || counts(sum) != want || len(toldOf) != 1 || !strings.Contains(toldOf[0].Error(), `blob "b" holds other bytes`) {
					t.Errorf("%s, going on, dry run %v: %+v, %v, told %v", way, dry, sum, err, toldOf)
				}
			}
			if got, err := to.Blob.Read(t.Context(), "b"); err != nil || string(got.Payload) != "others" {
				t.Errorf("%s: the blob is %q, %v", way, got.Payload, err)
			}
			// Deleted, as the hint says, the rest comes.
			if _, err := to.Blob.Delete(t.Context(), "b"); err != nil {
				t.Fatal(err)
			}
			if sum, err = move(to, ImportOptions{OnConflict: Overwrite}); err != nil || counts(sum) != (Summary{Created: 1, Unchanged: 3}) {
				t.Errorf("%s, with the blob deleted: %+v, %v", way, sum, err)
			}
			same(t, from, to)
		}
	})
}

// TestBlobsWithoutAnEnd holds that a blob that never expires stops what gives
// it no end, before anything is written, or is left out.
func TestBlobsWithoutAnEnd(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		from := newSide(t, s, "from")
		write(t, from, opaque.Put("k", "v", opaque.Never()))
		putBlob(t, from, "a", "bytes", 3_600_000)
		if err := from.rdb.Set(t.Context(), from.Blob.Key("b"), "bytes", 0).Err(); err != nil {
			t.Fatal(err)
		}
		for way, move := range moves(t, from) {
			to := newSide(t, s, way)
			for _, policy := range []Policy{Fail, Overwrite} {
				sum, err := move(to, ImportOptions{OnConflict: policy})
				bad := errors.As(err, new(*BadRecord))
				if way == "import" {
					bad = errors.As(err, new(*archive.BadLine))
				}
				if !bad || storeerr.KindOf(err) != storeerr.Invalid || !errors.As(err, new(*UntouchedError)) || sum.Done() > 0 ||
					!strings.Contains(err.Error(), `blob "b" has no expiry`) || !strings.Contains(storeerr.HintOf(err), "--retention") {
					t.Errorf("%s, %s: %+v, %v, hint %q", way, policy, sum, err, storeerr.HintOf(err))
				}
			}
			if found := contents(t, to); len(found) > 0 {
				t.Errorf("%s wrote %v", way, found)
			}
			for _, dry := range []bool{true, false} {
				sum, err := move(to, ImportOptions{KeepGoing: true, DryRun: dry})
				if err != nil || counts(sum) != (Summary{Created: 2, LeftOut: 1}) {
					t.Errorf("%s, going on, dry run %v: %+v, %v", way, dry, sum, err)
				}
			}
			sum, err := move(to, ImportOptions{OnConflict: Skip, Retention: time.Hour, Verify: true})
			if err != nil || sum.Created != 1 || sum.Skipped != 1 {
				t.Errorf("%s, with a retention: %+v, %v", way, sum, err)
			}
		}
	})
}

// TestNamesThatCannotBe holds whose fault a name is that the destination cannot
// have: that of a mapping, or of the record.
func TestNamesThatCannotBe(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		to := newSide(t, s, "to")
		long := strings.Repeat("k", 1000)
		for name, c := range map[string]struct {
			record archive.Record
			kind   storeerr.Kind
			says   string
		}{
			"no key":     {row("a/", "v", 0).Record, storeerr.Invalid, `key "a/" becomes "": the key has 0 bytes`},
			"long key":   {row("b/"+long, "v", 0).Record, storeerr.Invalid, "the key has 2000 bytes"},
			"no blob":    {archive.Record{Kind: archive.Blob, Key: "a/", ExpiresAt: 1 << 42}, storeerr.Invalid, `blob "a/" becomes "": the reference is empty`},
			"no segment": {chunkItem("", "old", 1, "t").Record, storeerr.Invalid, `segment "old" becomes "a b"`},
			"late":       {row("c", "v", opaque.MaxExpiry+1).Record, storeerr.Integrity, `the row of key "c" expires past the year 9999`},
		} {
			o := ImportOptions{Map: []Mapping{{"a/", ""}, {"b/", long}}, Segments: []Mapping{{"old", "a b"}}}
			sum, err := Import(t.Context(), to, stream(item{Record: c.record}), o)
			if !errors.As(err, new(*BadRecord)) || storeerr.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) || !strings.Contains(storeerr.HintOf(err), "--keep-going") || sum.Done() > 0 {
				t.Errorf("%s: %+v, %v, hint %q", name, sum, err, storeerr.HintOf(err))
			}
			o.KeepGoing = true
			if sum, err = Import(t.Context(), to, stream(item{Record: c.record}), o); err != nil || sum.LeftOut != 1 {
				t.Errorf("%s, going on: %+v, %v", name, sum, err)
			}
		}
	})
}
