package stats_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/stats"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func (f fixture) open(t *testing.T) string {
	t.Helper()
	snapshot, err := f.Opaque.OpenSnapshot(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.ID
}

func (f fixture) held(t *testing.T, o stats.Options) map[string]stats.Held {
	t.Helper()
	_, all, err := stats.HeldBack(context.Background(), f.Opaque, o)
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]stats.Held{}
	for _, h := range all {
		held[h.ID] = h
	}
	return held
}

// sizeOf is what a version of a value takes in Redis.
func sizeOf(key, value, version string) int64 {
	return int64(len(opaque.Member{Key: key, Value: value, Version: version}.Append(nil)))
}

func TestHeldBack(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		put := func(key, value string) { f.write(t, opaque.Put(key, value, opaque.Never())) }
		put("a", "one")     // 1
		put("same", "v")    // 2
		put("deleted", "v") // 3
		first := f.open(t)
		put("a", "second") // 4
		put("a", "3")      // 5
		second := f.open(t)
		put("a", "four")                     // 6
		f.write(t, opaque.Delete("deleted")) // 7
		put("new", "v")                      // 8
		third := f.open(t)
		f.do(t, "ZADD", f.Opaque.Keys().SnapshotExpiry(), 1, "ended")
		f.do(t, "ZADD", f.Opaque.Keys().SnapshotBoundary(), 0, "ended")

		got := f.held(t, stats.Options{Top: 5})
		tombstone := int64(len(opaque.Member{Key: "deleted", Version: "7", Tombstone: true}.Append(nil)))
		dead := sizeOf("deleted", "v", "3") + tombstone
		for id, want := range map[string]stats.Held{
			// a: one, second and 3; deleted with its tombstone.
			first: {Rows: 2, Versions: 5, Bytes: sizeOf("a", "one", "1") + sizeOf("a", "second", "4") + sizeOf("a", "3", "5") + dead},
			// a: 3, which it reads.
			second: {Rows: 2, Versions: 3, Bytes: sizeOf("a", "3", "5") + dead},
			// The tombstone alone.
			third:   {Rows: 1, Versions: 1, Bytes: tombstone},
			"ended": {},
		} {
			h := got[id]
			if h.Rows != want.Rows || h.Versions != want.Versions || h.Bytes != want.Bytes || h.Near != 0 {
				t.Errorf("snapshot at %s: %d rows, %d versions, %d bytes, want %+v", h.Boundary, h.Rows, h.Versions, h.Bytes, want)
			}
		}
		if len(got) != 4 {
			t.Errorf("%d snapshots", len(got))
		}
		if under := f.held(t, stats.Options{Prefix: "a"}); under[first].Rows != 1 || under[third].Rows != 0 {
			t.Errorf("under a prefix: %+v", under)
		}
	})
}

func TestNearBacklog(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		put := func(key string, times int) {
			for range times {
				f.write(t, opaque.Put(key, "v", opaque.Never()))
			}
		}
		put("full", 1)
		put("half", 1)
		first := f.open(t)
		put("full", 5)
		second := f.open(t)
		put("half", 50)
		put("full", 98)
		third := f.open(t)
		put("full", 1)
		f.do(t, "SET", f.Opaque.Keys().Row("string"), "x")
		f.do(t, "ZADD", f.Opaque.Keys().Index(), 0, "string")

		var damaged []error
		got := f.held(t, stats.Options{Top: 1, Damaged: func(err error) { damaged = append(damaged, err) }})
		for id, near := range map[string]int64{first: 1, second: 1, third: 0} {
			if h := got[id]; h.Near != near || len(h.Fullest) != int(near) || near > 0 && h.Fullest[0] != (stats.Sized[string]{Name: "full", Size: 105}) {
				t.Errorf("snapshot at %s: %d near the backlog, %v", h.Boundary, h.Near, h.Fullest)
			}
		}
		if len(damaged) != 1 || !errors.Is(damaged[0], storeerr.Integrity) {
			t.Errorf("damaged: %v", damaged)
		}
		if none := f.held(t, stats.Options{})[first]; none.Near != 1 || len(none.Fullest) != 0 {
			t.Errorf("without names: %+v", none)
		}
	})
}

// More large versions than one look at sizes reads.
func TestHeldBackOfLargeRows(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		const rows, versions = 4, 12
		value := strings.Repeat("v", 1<<20)
		for row := range rows {
			f.write(t, opaque.Put(fmt.Sprint(row), value, opaque.Never()))
		}
		id := f.open(t)
		for range versions {
			for row := range rows {
				f.write(t, opaque.Put(fmt.Sprint(row), value, opaque.Never()))
			}
		}
		if h := f.held(t, stats.Options{})[id]; h.Rows != rows || h.Versions != rows*versions || h.Bytes < rows*versions<<20 {
			t.Errorf("%+v", h)
		}
	})
}

func TestHeldBackRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t, testserver.Embedded(t))
	if _, _, err := stats.HeldBack(t.Context(), f.Opaque, stats.Options{Top: -1}); !errors.Is(err, storeerr.Invalid) {
		t.Error(err)
	}
	if now, held, err := stats.HeldBack(t.Context(), f.Opaque, stats.Options{}); now == 0 || len(held) != 0 || err != nil {
		t.Errorf("of no snapshots: %d, %v, %v", now, held, err)
	}
}
