package transfer

// Blobs among what is moved: they are never overwritten, and they need an end.

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
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
