package opaque

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// scanned collects a scan: the rows, the damaged keys, and what ended it.
func scanned(ctx context.Context, f fixture, o ScanOptions) (rows []Row, damaged []string, err error) {
	for row, err := range f.Scan(ctx, o) {
		if d, ok := errors.AsType[*DamagedRow](err); ok {
			damaged = append(damaged, d.Key)
			continue
		}
		if err != nil {
			return rows, damaged, err
		}
		rows = append(rows, row)
	}
	return rows, damaged, nil
}

func keysOfRows(rows []Row) []string {
	keys := []string{}
	for _, r := range rows {
		keys = append(keys, r.Key)
	}
	return keys
}

func (f fixture) openSnapshots(t tb) int {
	t.Helper()
	_, states, err := f.Snapshots(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return len(states)
}

func TestScanPrefixes(t *testing.T) {
	t.Parallel()
	all := []string{"\x00", "a", "a*c", "a?c", "a[b]c", "a\\c", "abc", "b", "cp", "cp\x00\x01\x15\xc5", "\xff", "\xff\xff", "\xff\xffz"}
	slices.Sort(all)
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		for _, key := range all {
			f.put(t, key, "v")
		}
		f.put(t, "az", "gone")
		f.delete(t, "az")
		f.write(t, Batch{Mutations: []Mutation{Put("ay", "past", At(1))}})
		for _, prefix := range []string{"", "a", "a[b]", "a*", "a?", "a\\", "cp", "cp\x00", "\x00", "\xff", "\xff\xff", "z", "\xff\xff\xff"} {
			want := []string{}
			for _, key := range all {
				if strings.HasPrefix(key, prefix) {
					want = append(want, key)
				}
			}
			for _, o := range []ScanOptions{{Prefix: prefix}, {Prefix: prefix, PageSize: 1}, {Prefix: prefix, Live: true, PageSize: 2}} {
				rows, damaged, err := scanned(context.Background(), f, o)
				if err != nil || damaged != nil || !slices.Equal(keysOfRows(rows), want) {
					t.Errorf("scan %+v: %q, %q, %v, want %q", o, keysOfRows(rows), damaged, err, want)
				}
			}
		}
		if n := f.openSnapshots(t); n != 0 {
			t.Errorf("%d snapshots are left open", n)
		}
	})
}

func TestScanReadsOneMoment(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		f := newFixture(t, s)
		want := map[string]string{}
		var b Batch
		for i := range 1000 {
			key := fmt.Sprintf("k%04d", i)
			want[key] = "before"
			b.Mutations = append(b.Mutations, Put(key, "before", Never()))
		}
		f.write(t, b)

		page, err := f.Page(ctx, ScanOptions{Prefix: "k", PageSize: 100})
		if err != nil {
			t.Fatal(err)
		}
		rows := page.Rows
		f.write(t, Batch{Mutations: []Mutation{
			Put("k0050", "after", Never()), Put("k0150", "after", Never()), Delete("k0160"), Put("k00055", "new", Never()), Put("k9999", "new", Never()),
		}})
		f.makeDue(t)
		if _, err := f.CollectAll(ctx, CollectOptions{}); err != nil {
			t.Fatal(err)
		}
		for page.Next != nil {
			if page, err = f.Page(ctx, ScanOptions{Prefix: "k", PageSize: 100, Cursor: page.Next}); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, page.Rows...)
		}
		if len(rows) != len(want) {
			t.Errorf("%d rows, want %d", len(rows), len(want))
		}
		for _, r := range rows {
			if want[r.Key] != r.Value {
				t.Errorf("key %q reads %q, was %q", r.Key, r.Value, want[r.Key])
			}
		}
		if n := f.openSnapshots(t); n != 0 {
			t.Errorf("the last page left %d snapshots open", n)
		}
	})
}

func TestSnapshotGoneIsExpired(t *testing.T) {
	t.Parallel()
	gone := map[string]func(t *testing.T, f fixture, id string){
		"record run out":   func(t *testing.T, f fixture, id string) { f.do(t, "DEL", f.keys.Scan(id)) },
		"boundary missing": func(t *testing.T, f fixture, id string) { f.do(t, "ZREM", f.keys.SnapshotBoundary(), id) },
		"boundary moved":   func(t *testing.T, f fixture, id string) { f.do(t, "ZADD", f.keys.SnapshotBoundary(), 99, id) },
		"dropped": func(t *testing.T, f fixture, id string) {
			if existed, err := f.DropSnapshot(context.Background(), id); err != nil || !existed {
				t.Error(existed, err)
			}
		},
	}
	for name, lose := range gone {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testserver.Each(t, func(t *testing.T, s testserver.Server) {
				ctx := context.Background()
				f := newFixture(t, s)
				for i := range 30 {
					f.put(t, fmt.Sprint("k", i), "v")
				}
				page, err := f.Page(ctx, ScanOptions{PageSize: 10})
				if err != nil || len(page.Rows) != 10 || page.Next == nil {
					t.Fatalf("%+v, %v", page, err)
				}
				lose(t, f, page.Next.SnapshotID)
				f.put(t, "k9", "newer")
				if next, err := f.Page(ctx, ScanOptions{PageSize: 10, Cursor: page.Next}); !errors.Is(err, storeerr.Expired) {
					t.Errorf("page %+v, %v, want expired", next, err)
				}
				end := &Cursor{SnapshotID: page.Next.SnapshotID, After: "zzz"}
				if next, err := f.Page(ctx, ScanOptions{Cursor: end}); !errors.Is(err, storeerr.Expired) {
					t.Errorf("the empty end %+v, %v, want expired", next, err)
				}

				rows := 0
				var last error
				for _, err := range f.Scan(ctx, ScanOptions{PageSize: 1, Opened: func(s Snapshot) { page.Snapshot = s }}) {
					if rows++; rows == 1 {
						lose(t, f, page.Snapshot.ID)
					}
					last = err
				}
				if !errors.Is(last, storeerr.Expired) {
					t.Errorf("the scan ended with %v after %d rows, want expired", last, rows)
				}
			})
		})
	}
}

// A scan whose snapshot ends, and whose rows then go, does not end as if that
// had been all.
func TestScanWhoseRowsGoIsExpired(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		f := newFixture(t, s)
		for i := range 40 {
			f.put(t, fmt.Sprintf("k%02d", i), "v")
		}
		var id string
		rows := 0
		var last error
		for _, err := range f.Scan(ctx, ScanOptions{PageSize: 10, Opened: func(s Snapshot) { id = s.ID }}) {
			if rows++; rows == 1 {
				if _, err := f.DropSnapshot(ctx, id); err != nil {
					t.Fatal(err)
				}
				if _, err := f.DeleteUnder(ctx, "", DeleteUnderOptions{}); err != nil {
					t.Fatal(err)
				}
				f.makeDue(t)
				if _, err := f.CollectAll(ctx, CollectOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			last = err
		}
		if !errors.Is(last, storeerr.Expired) {
			t.Errorf("ended with %v after %d rows, want expired", last, rows)
		}
	})
}

func TestScanKeepsItsSnapshotOpen(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		f := newFixture(t, s)
		f.put(t, "a", "v")
		f.put(t, "b", "v")
		var id string
		o := ScanOptions{PageSize: 1, renewEvery: time.Millisecond, Opened: func(s Snapshot) { id = s.ID }}
		rows := 0
		for _, err := range f.Scan(ctx, o) {
			if err != nil {
				t.Fatal(err)
			}
			rows++
			// About to run out: only a renewal brings the minute back.
			f.do(t, "PEXPIRE", f.keys.Scan(id), 5000)
			for f.rdb.PTTL(ctx, f.keys.Scan(id)).Val() < 30*time.Second {
				runtime.Gosched()
			}
		}
		if rows != 2 {
			t.Errorf("%d rows", rows)
		}
	})
}

func TestScanStopsAtItsAgeLimit(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		for i := range 20 {
			f.put(t, fmt.Sprint(i), "v")
		}
		var last error
		for _, err := range f.Scan(context.Background(), ScanOptions{PageSize: 1, MaxAge: time.Millisecond}) {
			// A consumer that stalls longer than the limit.
			for last == nil && err == nil && f.openSnapshots(t) > 0 {
				runtime.Gosched()
			}
			last = err
		}
		if !errors.Is(last, storeerr.Expired) || !strings.Contains(last.Error(), "age limit") {
			t.Errorf("%v, want expired for its age", last)
		}
		if n := f.openSnapshots(t); n != 0 {
			t.Errorf("%d snapshots are left open", n)
		}
	})
}

func TestScanClosesHoweverItEnds(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		for i := range 50 {
			f.put(t, fmt.Sprint(i), "v")
		}
		for range f.Scan(context.Background(), ScanOptions{PageSize: 1}) {
			break
		}
		if n := f.openSnapshots(t); n != 0 {
			t.Errorf("a scan left midway leaves %d snapshots open", n)
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var last error
		for _, err := range f.Scan(ctx, ScanOptions{PageSize: 1}) {
			cancel()
			last = err
		}
		if !errors.Is(last, context.Canceled) {
			t.Errorf("a cancelled scan ended with %v", last)
		}
		if n := f.openSnapshots(t); n != 0 {
			t.Errorf("a cancelled scan leaves %d snapshots open", n)
		}
	})
}

func TestScanGoesOnBehindDamage(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		for _, key := range []string{"a", "b", "c", "d"} {
			f.put(t, key, "v")
		}
		f.do(t, "ZADD", f.keys.Row("b"), 2, "\x02\x95")
		f.do(t, "DEL", f.keys.Row("c"))
		f.do(t, "SET", f.keys.Row("c"), "x")
		f.do(t, "ZADD", f.keys.Index(), 0, "e")
		rows, damaged, err := scanned(context.Background(), f, ScanOptions{})
		if err != nil || !slices.Equal(keysOfRows(rows), []string{"a", "d"}) || !slices.Equal(damaged, []string{"b", "c"}) {
			t.Errorf("rows %q, damaged %q, %v", keysOfRows(rows), damaged, err)
		}
		page, err := f.Page(context.Background(), ScanOptions{})
		if err != nil || len(page.Rows) != 2 || len(page.Damaged) != 2 {
			t.Errorf("page %+v, %v", page, err)
		}
	})
}

func TestScanOfALostCounterIsNoEmptyAnswer(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		f.put(t, "a", "v")
		f.do(t, "DEL", f.keys.Sequence())
		if _, _, err := scanned(context.Background(), f, ScanOptions{}); !errors.Is(err, storeerr.Integrity) {
			t.Errorf("%v, want integrity", err)
		}
		rows, _, err := scanned(context.Background(), f, ScanOptions{Live: true})
		if err != nil || len(rows) != 1 {
			t.Errorf("live: %v, %v", rows, err)
		}
	})
}

func TestPagesAreBounded(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		f := newFixture(t, s)
		big := strings.Repeat("v", MaxValueBytes)
		for i := range 6 {
			f.put(t, fmt.Sprint(i), big)
		}
		page, err := f.Page(ctx, ScanOptions{})
		if err != nil || len(page.Rows) != 3 || page.Next == nil || page.Next.After != "2" {
			t.Fatalf("%d rows, next %+v, %v: want 3 rows of 1 MiB and a little in 4 MiB", len(page.Rows), page.Next, err)
		}
		page, err = f.Page(ctx, ScanOptions{Cursor: page.Next})
		if err != nil || len(page.Rows) != 3 || page.Next != nil {
			t.Errorf("%d rows, next %+v, %v", len(page.Rows), page.Next, err)
		}
		rows, _, err := scanned(ctx, f, ScanOptions{})
		if err != nil || len(rows) != 6 {
			t.Errorf("scanned %d rows, %v", len(rows), err)
		}
		// Dead rows fill pages that show nothing.
		for i := range 6 {
			f.delete(t, fmt.Sprint(i))
		}
		page, err = f.Page(ctx, ScanOptions{PageSize: 4})
		if err != nil || len(page.Rows) != 0 || page.Next == nil {
			t.Errorf("%+v, %v: want an empty page that is not the last", page, err)
		}
	})
}

func TestScanRefuses(t *testing.T) {
	t.Parallel()
	s := testserver.Embedded(t)
	f := newFixture(t, s)
	cursor := &Cursor{SnapshotID: "x"}
	for name, o := range map[string]ScanOptions{
		"long prefix":      {Prefix: strings.Repeat("p", MaxPrefixBytes+1)},
		"page of 1,001":    {PageSize: MaxPageRows + 1},
		"page of -1":       {PageSize: -1},
		"live with cursor": {Live: true, Cursor: cursor},
	} {
		if _, _, err := scanned(context.Background(), f, o); !errors.Is(err, storeerr.Invalid) {
			t.Errorf("%s: %v, want invalid", name, err)
		}
	}
	for _, text := range []string{"", "id", ":6b", "id:6", "id:6B", "id:zz"} {
		if c, err := ParseCursor(text); !errors.Is(err, storeerr.Invalid) {
			t.Errorf("cursor %q: %+v, %v, want invalid", text, c, err)
		}
	}
	c, err := ParseCursor("11111111-2222-4333-8444-555555555555:6163746f722f31")
	if err != nil || c.After != "actor/1" || c.String() != "11111111-2222-4333-8444-555555555555:6163746f722f31" {
		t.Errorf("cursor %+v, %v", c, err)
	}
}
