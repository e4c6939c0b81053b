package transfer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// item is what a stream yields.
type item struct {
	archive.Record
	err error
}

func stream(items ...item) iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		for _, i := range items {
			if !yield(i.Record, i.err) {
				return
			}
		}
	}
}

func row(key, value string, expiresAt int64) item {
	return item{Record: archive.Record{Kind: archive.Row, Key: key, Value: []byte(value), Version: "1", ExpiresAt: expiresAt}}
}

func blobItem(reference, value string) item {
	return item{Record: archive.Record{Kind: archive.Blob, Key: reference, Value: []byte(value)}}
}

func chunkItem(namespace, segment string, chunk uint16, token string) item {
	return item{Record: archive.Record{Kind: archive.Chunk, Namespace: namespace, Segment: segment, Chunk: chunk, Token: token}}
}

// told writes a difference, or an error, in a line.
func told(d Difference, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	line := fmt.Sprintf("%s %v", d.Change, d.ID)
	for _, a := range d.Aspects {
		line += " " + string(a)
	}
	return line
}

func diff(o DiffOptions, left, right []item) (lines []string, tally Tally) {
	o.Tally = &tally
	for d, err := range Diff(context.Background(), stream(left...), stream(right...), o) {
		lines = append(lines, told(d, err))
	}
	return lines, tally
}

func TestDiff(t *testing.T) {
	t.Parallel()
	boom := storeerr.New(storeerr.Unavailable, "gone")
	broken := func(i item) item {
		i.err = &SkippedError{storeerr.New(storeerr.Integrity, "broken")}
		return i
	}
	tombstone, old := row("a", "", 0), row("a", "old", 0)
	tombstone.Tombstone, old.History = true, true
	token := func(version string, i item) item {
		i.Version = version
		return i
	}
	at := func(ms int64) func() int64 { return func() int64 { return ms } }
	for name, c := range map[string]struct {
		o           DiffOptions
		left, right []item
		lines       []string
		tally       Tally
	}{
		"nothing": {},
		"equal": {
			left:  []item{row("a", "1", 0), blobItem("a", "x"), chunkItem("", "s", 1, "t")},
			right: []item{token("2", row("a", "1", 0)), blobItem("a", "x"), chunkItem("", "s", 1, "u")},
			tally: Tally{Equal: 3},
		},
		"one side": {
			left:  []item{row("a", "1", 0), row("c", "1", 0)},
			right: []item{row("b", "1", 0), row("c", "1", 0), blobItem("a", "")},
			lines: []string{`only_left the row of key "a"`, `only_right the row of key "b"`, `only_right the blob of reference "a"`},
			tally: Tally{Equal: 1, OnlyLeft: 1, OnlyRight: 2},
		},
		"kinds and names do not mix": {
			left:  []item{row("z", "1", 0), chunkItem("", "b", 1, ""), chunkItem("a", "a", 65535, "")},
			right: []item{blobItem("a", "1"), chunkItem("", "b", 2, ""), chunkItem("a", "b", 0, "")},
			lines: []string{
				`only_left the row of key "z"`, `only_right the blob of reference "a"`,
				`only_left chunk 1 of segment "b", namespace ""`, `only_right chunk 2 of segment "b", namespace ""`,
				`only_left chunk 65535 of segment "a", namespace "a"`, `only_right chunk 0 of segment "b", namespace "a"`,
			},
			tally: Tally{OnlyLeft: 3, OnlyRight: 3},
		},
		"byte order": {
			left:  []item{row("a", "", 0), row("a\x00", "", 0), row("é", "", 0), row("\xff", "", 0)},
			right: []item{row("a\x00", "", 0), row("\xfe", "", 0), row("\xff", "", 0)},
			lines: []string{`only_left the row of key "a"`, `only_left the row of key "é"`, `only_right the row of key "\xfe"`},
			tally: Tally{Equal: 2, OnlyLeft: 2, OnlyRight: 1},
		},
		"value": {
			left: []item{row("a", "1", 5000)}, right: []item{row("a", "2", 5000)},
			lines: []string{`different the row of key "a" value`}, tally: Tally{Different: 1},
		},
		"expiry within the tolerance": {
			o:    DiffOptions{ExpiryTolerance: time.Second},
			left: []item{row("a", "", 5000), row("b", "", 5000)}, right: []item{row("a", "", 6000), row("b", "", 4000)},
			tally: Tally{Equal: 2},
		},
		"expiry": {
			o:     DiffOptions{ExpiryTolerance: time.Second},
			left:  []item{row("a", "", 5000), row("b", "", 5000), row("c", "", 0), row("d", "", 1)},
			right: []item{row("a", "", 6001), row("b", "", 3999), row("c", "", 1), row("d", "", 0)},
			lines: []string{
				`different the row of key "a" expiry`, `different the row of key "b" expiry`,
				`different the row of key "c" expiry`, `different the row of key "d" expiry`,
			},
			tally: Tally{Different: 4},
		},
		"version and token": {
			o:     DiffOptions{Versions: true},
			left:  []item{row("a", "1", 0), chunkItem("", "s", 1, "t"), chunkItem("", "s", 2, "t")},
			right: []item{token("2", row("a", "2", 0)), chunkItem("", "s", 1, "u"), chunkItem("", "s", 2, "t")},
			lines: []string{`different the row of key "a" value version`, `different chunk 1 of segment "s", namespace "" token`},
			tally: Tally{Equal: 1, Different: 2},
		},
		"expired meanwhile": {
			o:    DiffOptions{RightNow: at(100), LeftNow: at(200)},
			left: []item{row("a", "", 100), row("b", "", 101)}, right: []item{row("c", "", 200), row("d", "", 201), row("e", "", 0)},
			lines: []string{`only_left the row of key "b"`, `only_right the row of key "d"`, `only_right the row of key "e"`},
			tally: Tally{OnlyLeft: 1, OnlyRight: 2, Expired: 2},
		},
		"tombstones and history": {
			left: []item{tombstone, old, row("b", "", 0), old}, right: []item{row("b", "", 0)},
			tally: Tally{Equal: 1},
		},
		"a deleted row and a live one": {
			left: []item{tombstone}, right: []item{row("a", "", 0)},
			lines: []string{`only_right the row of key "a"`}, tally: Tally{OnlyRight: 1},
		},
		"a damaged record": {
			left: []item{broken(row("a", "", 0)), row("b", "1", 0)}, right: []item{row("a", "", 0), row("b", "2", 0)},
			lines: []string{"error: the left side: broken", `different the row of key "b" value`},
			tally: Tally{Different: 1, Damaged: 1},
		},
		"damaged on both sides, and where one lacks it": {
			left: []item{broken(row("a", "", 0)), broken(row("c", "", 0))}, right: []item{broken(row("a", "", 0)), broken(row("b", "", 0))},
			lines: []string{"error: the left side: broken", "error: the right side: broken", "error: the right side: broken", "error: the left side: broken"},
			tally: Tally{Damaged: 3},
		},
		"the left side ends early": {
			left: []item{row("a", "", 0), {err: boom}}, right: []item{row("a", "", 0), row("b", "", 0)},
			lines: []string{"error: the left side: gone"}, tally: Tally{Equal: 1},
		},
		"the right side ends early": {
			left: []item{row("a", "", 0), row("b", "", 0)}, right: []item{row("a", "", 0), {err: boom}},
			lines: []string{"error: the right side: gone"}, tally: Tally{Equal: 1},
		},
		"an error of no record": {
			left: []item{{err: &SkippedError{boom}}, row("a", "", 0)}, right: []item{row("a", "", 0)},
			lines: []string{"error: the left side: gone"},
		},
		"out of order": {
			left: []item{row("b", "", 0), row("a", "", 0)}, right: []item{row("b", "", 0)},
			lines: []string{`error: the left side is out of order: the row of key "a" comes behind the row of key "b"`}, tally: Tally{Equal: 1},
		},
		"out of order by kind, where nothing is left to compare": {
			right: []item{blobItem("a", ""), row("z", "", 0)},
			lines: []string{`only_right the blob of reference "a"`, `error: the right side is out of order: the row of key "z" comes behind the blob of reference "a"`},
			tally: Tally{OnlyRight: 1},
		},
		"twice the same": {
			left:  []item{chunkItem("n", "s", 2, ""), chunkItem("n", "s", 2, "")},
			lines: []string{`only_left chunk 2 of segment "s", namespace "n"`, `error: the left side is out of order: chunk 2 of segment "s", namespace "n" comes behind chunk 2 of segment "s", namespace "n"`},
			tally: Tally{OnlyLeft: 1},
		},
	} {
		lines, tally := diff(c.o, c.left, c.right)
		if !slices.Equal(lines, c.lines) || tally != c.tally {
			t.Errorf("%s: %+v\n%s\nwant %+v\n%s", name, tally, strings.Join(lines, "\n"), c.tally, strings.Join(c.lines, "\n"))
		}
	}
}

func TestDiffKindsOfErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		left []item
		want storeerr.Kind
	}{
		"a side's own": {[]item{{err: storeerr.New(storeerr.Expired, "gone")}}, storeerr.Expired},
		"out of order": {[]item{row("b", "", 0), row("a", "", 0)}, storeerr.Integrity},
	} {
		var last error
		for _, err := range Diff(t.Context(), stream(c.left...), stream(), DiffOptions{}) {
			last = err
		}
		if !errors.Is(last, c.want) {
			t.Errorf("%s: %v, want %v", name, last, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range Diff(ctx, stream(row("a", "", 0)), stream(), DiffOptions{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a diff that nobody wants any more: %v", err)
		}
	}
}

func TestDiffFacts(t *testing.T) {
	t.Parallel()
	left, right := row("a", "123", 5), chunkItem("n", "s", 7, "t")
	var got []Difference
	for d, err := range Diff(t.Context(), stream(left), stream(right), DiffOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, d)
	}
	want := []Difference{
		{ID: ID{Kind: archive.Row, Key: "a"}, Change: OnlyLeft, Left: &Facts{Size: 3, Version: "1", ExpiresAt: 5}},
		{ID: ID{Kind: archive.Chunk, Namespace: "n", Segment: "s", Chunk: 7}, Change: OnlyRight, Right: &Facts{Token: "t"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// TestDiffStops holds that whoever has seen enough ends both sides.
func TestDiffStops(t *testing.T) {
	t.Parallel()
	ended := 0
	side := func(key string) iter.Seq2[archive.Record, error] {
		return func(yield func(archive.Record, error) bool) {
			defer func() { ended++ }()
			for i := 0; yield(row(fmt.Sprintf("%s%09d", key, i), "", 0).Record, nil); i++ {
			}
		}
	}
	for range Diff(t.Context(), side("a"), side("b"), DiffOptions{}) {
		break
	}
	if ended != 2 {
		t.Errorf("%d sides have ended, want 2", ended)
	}
}

// TestDiffAgainstMaps compares with what a comparison of two maps finds.
func TestDiffAgainstMaps(t *testing.T) {
	t.Parallel()
	record := rapid.Custom(func(t *rapid.T) item {
		value := rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "value")
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			r := row(rapid.StringMatching(`[ab\x00]{1,2}`).Draw(t, "key"), value, rapid.Int64Range(0, 3).Draw(t, "expiry")*600)
			r.Version = rapid.SampledFrom([]string{"1", "2"}).Draw(t, "version")
			r.Tombstone = rapid.Bool().Draw(t, "tombstone")
			return r
		case 1:
			return blobItem(rapid.StringMatching(`[ab]{1,2}`).Draw(t, "reference"), value)
		}
		c := chunkItem(rapid.SampledFrom([]string{"", "n"}).Draw(t, "namespace"), rapid.SampledFrom([]string{"s", "t"}).Draw(t, "segment"),
			rapid.Uint16Range(0, 2).Draw(t, "chunk"), rapid.SampledFrom([]string{"t", "u"}).Draw(t, "token"))
		c.Value = []byte(value)
		return c
	})
	side := rapid.MapOfNValues(record, 0, 30, func(i item) ID { return IDOf(&i.Record) })
	rapid.Check(t, func(t *rapid.T) {
		left, right := side.Draw(t, "left"), side.Draw(t, "right")
		o := DiffOptions{ExpiryTolerance: time.Second, Versions: rapid.Bool().Draw(t, "versions")}
		lines, tally := diff(o, ordered(left), ordered(right))
		if want := diffOfMaps(o, left, right); !slices.Equal(lines, want) {
			t.Errorf("%q\nwant %q", lines, want)
		}
		if int64(len(lines)) != tally.Differences() {
			t.Errorf("%d differences, and a tally of %+v", len(lines), tally)
		}
	})
}

func ordered(records map[ID]item) []item {
	var items []item
	for _, i := range records {
		items = append(items, i)
	}
	slices.SortFunc(items, func(a, b item) int { return IDOf(&a.Record).Compare(IDOf(&b.Record)) })
	return items
}

// diffOfMaps looks every record up on the other side.
func diffOfMaps(o DiffOptions, left, right map[ID]item) []string {
	var found []Difference
	for id, l := range left {
		r, both := right[id]
		switch both = both && !r.Tombstone; {
		case l.Tombstone:
		case !both:
			found = append(found, Difference{ID: id, Change: OnlyLeft})
		default:
			d := Difference{ID: id, Change: Different}
			add := func(differs bool, a Aspect) {
				if differs {
					d.Aspects = append(d.Aspects, a)
				}
			}
			add(string(l.Value) != string(r.Value), AspectValue)
			add(l.ExpiresAt != r.ExpiresAt && (min(l.ExpiresAt, r.ExpiresAt) == 0 || max(l.ExpiresAt-r.ExpiresAt, r.ExpiresAt-l.ExpiresAt) > 1000), AspectExpiry)
			add(o.Versions && l.Version != r.Version, AspectVersion)
			add(o.Versions && l.Token != r.Token, AspectToken)
			if d.Aspects != nil {
				found = append(found, d)
			}
		}
	}
	for id, r := range right {
		if l, ok := left[id]; !r.Tombstone && (!ok || l.Tombstone) {
			found = append(found, Difference{ID: id, Change: OnlyRight})
		}
	}
	slices.SortFunc(found, func(a, b Difference) int { return a.Compare(b.ID) })
	var lines []string
	for _, d := range found {
		lines = append(lines, told(d, nil))
	}
	return lines
}
