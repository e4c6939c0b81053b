package stats_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/stats"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// fixture is the three stores of a prefix of its own.
type fixture struct {
	stats.Stores
	rdb *redis.Client
}

func newFixture(t *testing.T, s testserver.Server) fixture {
	t.Helper()
	rdb, prefix := s.Client(t), s.Prefix(t)
	rows, rowsErr := opaque.New(rdb, prefix)
	blobs, blobsErr := blob.New(rdb, prefix)
	chunks, chunksErr := warm.New(rdb, prefix)
	if err := errors.Join(rowsErr, blobsErr, chunksErr); err != nil {
		t.Fatal(err)
	}
	return fixture{stats.Stores{Opaque: rows, Blob: blobs, Warm: chunks}, rdb}
}

func (f fixture) do(t *testing.T, args ...any) {
	t.Helper()
	if err := f.rdb.Do(context.Background(), args...).Err(); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
}

func (f fixture) write(t *testing.T, mutations ...opaque.Mutation) *opaque.Applied {
	t.Helper()
	applied, err := f.Opaque.Write(context.Background(), opaque.Batch{Mutations: mutations})
	if err != nil {
		t.Fatal(err)
	}
	return applied
}

func (f fixture) look(t *testing.T, o stats.Options) *stats.Report {
	t.Helper()
	report, err := stats.Look(context.Background(), f.Stores, o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// counts are the counts of a histogram that are not zero, by their bounds.
func counts(h stats.Histogram) string {
	found := map[int64]int64{}
	for i, n := range h.Counts {
		bound := int64(-1)
		if i < len(h.Bounds) {
			bound = h.Bounds[i]
		}
		if n > 0 {
			found[bound] = n
		}
	}
	return fmt.Sprint(found)
}

func bytes(n int) string { return string(make([]byte, n)) }

func TestRows(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		now := f.write(t, opaque.Put("a/full", "", opaque.Never())).Now
		snapshot, err := f.Opaque.OpenSnapshot(context.Background(), "")
		if err != nil {
			t.Fatal(err)
		}
		for range 103 {
			f.write(t, opaque.Put("a/full", bytes(17), opaque.Never()))
		}
		f.write(t,
			opaque.Put("a/hour", bytes(3000), opaque.After(time.Hour-time.Minute)),
			opaque.Put("a/deleted", "v", opaque.Never()),
			opaque.Put("a/expired", "v", opaque.At(now-1)),
			opaque.Put("a/century", bytes(17), opaque.At(now+100*365*86_400_000)),
			opaque.Put("b", bytes(1<<20), opaque.Never()))
		f.write(t, opaque.Delete("a/deleted"))
		f.do(t, "ZADD", f.Opaque.Keys().Index(), 0, "a/gone", 0, "a/string")
		f.do(t, "SET", f.Opaque.Keys().Row("a/string"), "x")
		f.do(t, "ZADD", f.Opaque.Keys().Cleanup(), now-7000, "a/full", now-5000, "a/hour")
		before := f.rdb.DBSize(t.Context()).Val()

		var damaged []error
		var progress int64
		got := f.look(t, stats.Options{Prefix: "a/", Top: 2,
			Damaged: func(err error) { damaged = append(damaged, err) }, Progress: func(n int64) { progress += n }}).Opaque
		if want := (stats.Rows{Live: 3, Expired: 1, Tombstoned: 1, Damaged: 1, Missing: 1}); got.Rows != want {
			t.Errorf("rows %+v, want %+v", got.Rows, want)
		}
		if len(damaged) != 1 || !errors.Is(damaged[0], storeerr.Integrity) || progress != 7 {
			t.Errorf("damaged %v, progress %d", damaged, progress)
		}
		if v := got.Values; v.Count != 3 || v.Sum != 3034 || v.P50 != 17 || v.Max != 3000 || counts(v.Histogram) != "map[64:2 4096:1]" {
			t.Errorf("values %+v", v)
		}
		if want := "[{a/hour 3000} {a/century 17}]"; fmt.Sprint(got.Largest) != want || got.KeyBytes != 21 {
			t.Errorf("largest %v, want %s; key bytes %d", got.Largest, want, got.KeyBytes)
		}
		if v := got.Versions; v.Count != 5 || v.P50 != 1 || v.Max != 104 || v.P99 != 104 || counts(v.Histogram) != "map[1:3 2:1 128:1]" {
			t.Errorf("versions %+v", v)
		}
		if got.Near != 1 || fmt.Sprint(got.Fullest) != "[{a/full 104}]" {
			t.Errorf("%d near the backlog: %v", got.Near, got.Fullest)
		}
		if e := got.Expiries; e.Never != 1 || counts(e.Histogram) != "map[-1:1 3600000:1]" {
			t.Errorf("expiries %+v", e)
		}
		if got.Counter != "106" || got.Due != 2 || got.OldestDue != now-7000 || got.Keys != 8 {
			t.Errorf("bookkeeping %+v", got.Bookkeeping)
		}
		if st := got.Snapshots; st.Open != 1 || st.Ended != 0 || st.Oldest == nil || st.Oldest.ID != snapshot.ID || st.Oldest.Behind != 105 {
			t.Errorf("snapshots %+v", st)
		}
		if after := f.rdb.DBSize(t.Context()).Val(); after != before {
			t.Errorf("%d keys, there were %d", after, before)
		}
	})
}

func TestWrites(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		f.write(t, opaque.Put("k", "v", opaque.Never()))
		first := f.look(t, stats.Options{})
		if w := first.Opaque.Writes; w.Batches != 0 || w.Interval < 0 {
			t.Errorf("while it looked: %+v", w)
		}
		for range 3 {
			f.write(t, opaque.Put("k", "v", opaque.Never()))
		}
		second := f.look(t, stats.Options{Since: first})
		if w := second.Opaque.Writes; w.Batches != 3 || w.Interval != second.Opaque.Now-first.Opaque.Now {
			t.Errorf("since then: %+v", w)
		}
		f.do(t, "SET", f.Opaque.Keys().Sequence(), "1")
		if w := f.look(t, stats.Options{Since: second}).Opaque.Writes; w != (stats.Writes{}) {
			t.Errorf("after the counter went back: %+v", w)
		}
	})
}

func TestPerSecond(t *testing.T) {
	t.Parallel()
	for w, want := range map[stats.Writes]float64{
		{Batches: 5, Interval: 2000}: 2.5, {Batches: 0, Interval: 100}: 0,
		{Batches: 5, Interval: 99}: -1, {}: -1,
	} {
		if rate, known := w.PerSecond(); known != (want >= 0) || known && rate != want {
			t.Errorf("%+v: %v, %v, want %v", w, rate, known, want)
		}
	}
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		for reference, size := range map[string]int{"a/empty": 0, "a/small": 10, "a/large": 5000, "b": 1} {
			if _, err := f.Blob.Put(t.Context(), reference, make([]byte, size), 3_600_000); err != nil {
				t.Fatal(err)
			}
		}
		f.do(t, "SET", f.Blob.Key("a/lasting"), "x")
		f.do(t, "SADD", f.Blob.Key("a/set"), "x")
		got := f.look(t, stats.Options{Prefix: "a/", Top: 1}).Blob
		if got.Damaged != 1 || got.Sizes.Count != 4 || got.Sizes.Sum != 5011 || got.Sizes.Max != 5000 {
			t.Errorf("%+v", got)
		}
		if counts(got.Sizes.Histogram) != "map[0:1 16:2 16384:1]" || fmt.Sprint(got.Largest) != "[{a/large 5000}]" {
			t.Errorf("sizes %v, largest %v", counts(got.Sizes.Histogram), got.Largest)
		}
		if got.Expiries.Never != 1 || counts(got.Expiries.Histogram) != "map[3600000:3]" {
			t.Errorf("expiries %+v", got.Expiries)
		}
	})
}

func TestChunks(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		empty := "\x3a\x30\x00\x00\x00\x00\x00\x00"
		// Adds 1, 2, 3 and 65,535, as another driver writes them.
		delta := "\x01\x18\x00\x00\x00\x3a\x30\x00\x00\x01\x00\x00\x00\x00\x00\x03\x00\x10\x00\x00\x00\x01\x00\x02\x00\x03\x00\xff\xff" + empty
		for chunk, payload := range map[uint16]string{0: delta, 7: delta, 8: "\x02 of another version", 9: "\x01", 10: delta + "more"} {
			if _, err := f.Warm.Create(t.Context(), warm.Segment{Name: "users"}, chunk, []byte(payload)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.Warm.Create(t.Context(), warm.Segment{Namespace: "eu", Name: "users"}, 1, []byte(delta)); err != nil {
			t.Fatal(err)
		}
		broken := warm.Segment{Name: "broken"}
		f.do(t, "SET", f.Warm.IndexKey(broken), "x")
		got := f.look(t, stats.Options{Top: 2}).Warm
		if got.Segments != 2 || got.Payloads.Count != 6 || got.Added != 12 || got.Removed != 0 || got.Other != 1 || got.Damaged != 3 {
			t.Errorf("%+v", got)
		}
		if want := fmt.Sprintf("[{{users 10} %d} {{users 0} %d}]", len(delta)+4, len(delta)); fmt.Sprint(got.Largest) != want {
			t.Errorf("largest %v, want %s", got.Largest, want)
		}
	})
}

// Only what is there is told of, if that is asked for.
func TestFound(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		if got := f.look(t, stats.Options{Found: true}); *got != (stats.Report{}) {
			t.Errorf("of nothing: %+v", got)
		}
		got := f.look(t, stats.Options{})
		if got.Opaque == nil || got.Opaque.Values.Max != 0 || got.Blob == nil || got.Warm == nil || got.Warm.Segments != 0 {
			t.Errorf("of empty stores: %+v", got)
		}
		f.write(t, opaque.Put("k", "v", opaque.Never()))
		if got := f.look(t, stats.Options{Found: true}); got.Opaque == nil || got.Blob != nil || got.Warm != nil {
			t.Errorf("of a row: %+v", got)
		}
	})
}

// Damage to what a store keeps beside its rows hides no rows.
func TestDamagedBookkeeping(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		f.write(t, opaque.Put("k", "v", opaque.Never()))
		keys := f.Opaque.Keys()
		for _, name := range []string{keys.Cleanup(), keys.SnapshotBoundary()} {
			f.do(t, "DEL", name)
			f.do(t, "SET", name, "x")
		}
		if got := f.look(t, stats.Options{Found: true}).Opaque; got.Rows != (stats.Rows{Live: 1, Damaged: 2}) {
			t.Errorf("%+v", got.Rows)
		}
		f.do(t, "DEL", keys.Index())
		f.do(t, "SET", keys.Index(), "x")
		if got := f.look(t, stats.Options{Found: true}).Opaque; got.Rows != (stats.Rows{Damaged: 3}) {
			t.Errorf("without an index: %+v", got.Rows)
		}
	})
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for _, top := range []int{-1, stats.MaxTop + 1} {
		if _, err := stats.Look(t.Context(), stats.Stores{}, stats.Options{Top: top}); !errors.Is(err, storeerr.Invalid) {
			t.Errorf("the largest %d: %v", top, err)
		}
	}
}

// The largest are those of a sort, whatever the order in which they come.
func TestLargestOfMany(t *testing.T) {
	t.Parallel()
	s := testserver.Embedded(t)
	f := newFixture(t, s)
	want := map[string]int64{}
	for i := range 300 {
		key, size := fmt.Sprintf("%03d", i), (i*7919)%1000
		f.write(t, opaque.Put(key, bytes(size), opaque.Never()))
		want[key] = int64(size)
	}
	keys := slices.SortedFunc(maps.Keys(want), func(a, b string) int { return int(want[b] - want[a]) })
	got := f.look(t, stats.Options{Top: 20}).Opaque
	for i, sized := range got.Largest {
		if sized.Name != keys[i] || sized.Size != want[keys[i]] {
			t.Errorf("place %d has %+v, want %s of %d", i, sized, keys[i], want[keys[i]])
		}
	}
	if len(got.Largest) != 20 {
		t.Errorf("%d are named", len(got.Largest))
	}
}

// Beside writers and collection nothing is told that is not so.
func TestBesideWriters(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		const still = 300
		var rows []opaque.Mutation
		for i := range still {
			rows = append(rows, opaque.Put(fmt.Sprintf("still/%04d", i), "v", opaque.Never()))
		}
		f.write(t, rows...)
		stop := make(chan struct{})
		var writers sync.WaitGroup
		for w := range 2 {
			writers.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-stop:
						return
					default:
					}
					key := fmt.Sprintf("moving/%d/%d", w, i%50)
					f.write(t, opaque.Put(key, bytes(i%100), opaque.Never()))
					f.write(t, opaque.Delete(key))
					if _, err := f.Opaque.CollectAll(context.Background(), opaque.CollectOptions{}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for range 3 {
			report := f.look(t, stats.Options{Damaged: func(err error) { t.Error(err) }})
			if report.Opaque.Rows.Live < still || report.Opaque.Rows.Live > still+100 || report.Opaque.Rows.Damaged > 0 {
				t.Errorf("%+v", report.Opaque.Rows)
			}
			if got := f.look(t, stats.Options{Prefix: "still/"}).Opaque.Rows; got != (stats.Rows{Live: still}) {
				t.Errorf("of the rows that nobody writes: %+v", got)
			}
		}
		close(stop)
		writers.Wait()
	})
}
