package transfer

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// TestArchivesOutOfOrder holds that a record that comes twice, too late or
// without its store is a bad line: nothing is written, or all else, and the
// same again changes nothing.
func TestArchivesOutOfOrder(t *testing.T) {
	t.Parallel()
	older := row("b", "older", 0).Record
	older.History = true
	blob := archive.Record{Kind: archive.Blob, Key: "a", ExpiresAt: 1 << 42}
	chunk := func(namespace, segment string, n uint16) archive.Record {
		return chunkItem(namespace, segment, n, "token").Record
	}
	a, b, c := row("a", "1", 0).Record, row("b", "1", 0).Record, row("c", "1", 0).Record
	other := row("b", "other", 0).Record
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		for name, c := range map[string]struct {
			records []archive.Record
			line    int
			says    string
		}{
			"twice":            {[]archive.Record{a, b, other, c}, 4, `the row of key "b" is in line 3 already`},
			"twice, history":   {[]archive.Record{a, b, older, older, other}, 6, `the row of key "b" is in line 3 already`},
			"too late":         {[]archive.Record{b, c, a}, 4, `it is out of order: the row of key "a" comes behind the row of key "c", line 3`},
			"older too late":   {[]archive.Record{b, c, older}, 4, `it is out of order: the row of key "b" comes behind the row of key "c", line 3`},
			"a row too late":   {[]archive.Record{a, blob, b}, 4, `it is out of order: the row of key "b" comes behind the blob of reference "a", line 3`},
			"a blob twice":     {[]archive.Record{blob, blob}, 3, `the blob of reference "a" is in line 2 already`},
			"a chunk too late": {[]archive.Record{chunk("", "s", 256), chunk("", "s", 1)}, 3, `it is out of order: chunk 1 of segment "s", namespace "" comes behind chunk 256 of segment "s", namespace "", line 2`},
			"of another store": {[]archive.Record{a, chunk("", "s", 1)}, 3, `chunk 1 of segment "s", namespace "" is of the warm store, which the header does not name`},
		} {
			stores := Stores()
			if name == "of another store" {
				stores = []string{Opaque, Blob}
			}
			text := linesOf(t, archive.Header{Prefix: "app", Stores: stores}, c.records...)
			to := newSide(t, s, strings.NewReplacer(" ", "-", ",", "").Replace(name))
			sum, err := imports(to, text, ReadOptions{})
			bad, ok := errors.AsType[*archive.BadLine](err)
			if !ok || bad.Line != c.line || bad.Reason.Error() != c.says || !errors.Is(err, storeerr.Integrity) || !errors.As(err, new(*UntouchedError)) || len(contents(t, to)) > 0 {
				t.Errorf("%s: %+v, %v", name, sum, err)
			}
			for again := range 2 {
				sum, err = imports(to, text, ReadOptions{ImportOptions: ImportOptions{KeepGoing: true, OnConflict: Overwrite}})
				if err != nil || sum.LeftOut != 1 || sum.Done() != int64(len(c.records)) || sum.Replaced > 0 || again > 0 && sum.Written() > 0 {
					t.Errorf("%s, going on: %+v, %v", name, sum, err)
				}
			}
			if !strings.HasPrefix(name, "twice") {
				continue
			}
			if _, got, err := to.Opaque.Read(context.Background(), "b"); err != nil || got[0].Row.Value != "1" {
				t.Errorf("%s, going on, wrote %+v, %v", name, got, err)
			}
		}
	})
}

// TestArchivesWithHistory holds that older versions stand behind newer ones.
func TestArchivesWithHistory(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		from := newSide(t, s, "from")
		for _, value := range []string{"1", "2", "3"} {
			if _, err := from.Opaque.OpenSnapshot(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			write(t, from, opaque.Put("a", value, opaque.Never()), opaque.Put("b", value, opaque.Never()))
		}
		write(t, from, opaque.Delete("a"))
		text := archived(t, from, ExportOptions{Options: archive.Options{Tombstones: true, History: true}})
		sum, err := imports(newSide(t, s, "to"), text, ReadOptions{})
		if err != nil || counts(sum) != (Summary{Created: 1, Unchanged: 1, History: sum.History}) || sum.History < 3 {
			t.Errorf("%+v, %v, of %s", sum, err, text)
		}
	})
}
