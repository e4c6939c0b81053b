package opaque

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func TestCollect(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		f := newFixture(t, s)
		f.put(t, "lasting", "v")
		f.put(t, "gone", "v")
		f.delete(t, "gone")
		longPast := f.put(t, "x", "v").Now - 2*expiredDelay
		f.write(t, Batch{Mutations: []Mutation{
			Put("past", "v", At(longPast)), Put("just past", "v", At(longPast+2*expiredDelay)), Put("lease", "v", After(time.Hour)),
		}})
		f.makeDue(t)
		f.do(t, "ZADD", f.keys.Cleanup(), 1, "never written")

		dry, err := f.CollectAll(ctx, CollectOptions{DryRun: true, Batch: 2})
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.CollectAll(ctx, CollectOptions{Batch: 2})
		if err != nil {
			t.Fatal(err)
		}
		want := Collected{Due: 5, RemovedRows: 2, RemovedEntries: 1, DroppedVersions: 2}
		if fmt.Sprint(got) != fmt.Sprint(want) || fmt.Sprint(dry) != fmt.Sprint(want) {
			t.Errorf("collected %+v, dry run %+v, want %+v", got, dry, want)
		}
		f.checkInvariants(t)
		rows, _, err := scanned(ctx, f, ScanOptions{})
		if err != nil || fmt.Sprint(keysOfRows(rows)) != "[lasting lease x]" {
			t.Errorf("left %q, %v", keysOfRows(rows), err)
		}
		if n := f.do(t, "EXISTS", f.keys.Row("gone"), f.keys.Row("past")); n != int64(0) {
			t.Errorf("%v collected rows are still there", n)
		}
		again, err := f.CollectAll(ctx, CollectOptions{})
		if err != nil || fmt.Sprint(again) != fmt.Sprint(Collected{}) {
			t.Errorf("a second pass: %+v, %v", again, err)
		}
	})
}

func TestCollectKeepsWhatASnapshotReads(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		f := newFixture(t, s)
		f.put(t, "k", "1")
		f.put(t, "d", "1")
		snapshot, err := f.OpenSnapshot(ctx, "")
		if err != nil {
			t.Fatal(err)
		}
		f.put(t, "k", "2")
		f.put(t, "k", "3")
		f.delete(t, "d")
		f.makeDue(t)
		dry, err := f.CollectAll(ctx, CollectOptions{DryRun: true})
		if err != nil || dry.HeldBack != 2 || dry.RemovedRows != 0 || dry.DroppedVersions != 0 {
			t.Errorf("dry run under a snapshot: %+v, %v", dry, err)
		}
		c, err := f.CollectAll(ctx, CollectOptions{})
		if err != nil || c.HeldBack != 2 || c.RemovedRows != 0 || c.DroppedVersions != 0 {
			t.Errorf("collected %+v under a snapshot, %v", c, err)
		}
		rows, _, err := scanned(ctx, f, ScanOptions{Cursor: &Cursor{SnapshotID: snapshot.ID}})
		if err != nil || len(rows) != 2 || rows[1].Value != "1" {
			t.Errorf("the snapshot reads %+v, %v", rows, err)
		}
		f.makeDue(t)
		if c, err = f.CollectAll(ctx, CollectOptions{}); err != nil || c.RemovedRows != 1 || c.DroppedVersions != 4 {
			t.Errorf("collected %+v behind the snapshot, %v", c, err)
		}
		f.checkInvariants(t)
	})
}

func TestCollectEndsSnapshots(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		f := newFixture(t, s)
		const ended = 300
		now := f.put(t, "k", "v").Now
		for i := range ended {
			id := fmt.Sprint("ended-", i)
			f.do(t, "ZADD", f.keys.SnapshotExpiry(), now-endedAfter, id)
			f.do(t, "ZADD", f.keys.SnapshotBoundary(), 1, id)
		}
		f.do(t, "ZADD", f.keys.SnapshotExpiry(), now+30_000, "open")
		f.do(t, "ZADD", f.keys.SnapshotBoundary(), 1, "open")
		dry, err := f.CollectAll(ctx, CollectOptions{DryRun: true})
		if err != nil || dry.EndedSnapshots != ended || f.openSnapshots(t) != ended+1 {
			t.Errorf("dry run: %+v, %v, %d left", dry, err, f.openSnapshots(t))
		}
		c, err := f.CollectAll(ctx, CollectOptions{})
		if err != nil || c.EndedSnapshots != ended || f.openSnapshots(t) != 1 {
			t.Errorf("%+v, %v, %d left", c, err, f.openSnapshots(t))
		}
	})
}

func TestCollectStepsOverDamage(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		f := newFixture(t, s)
		for i := range 10 {
			key := fmt.Sprint("k", i)
			f.put(t, key, "v")
			f.delete(t, key)
			if i < 7 {
				f.do(t, "ZADD", f.keys.Row(key), 1e6, "\x02")
			}
		}
		f.makeDue(t)
		var damaged []error
		c, err := f.CollectAll(ctx, CollectOptions{Batch: 3, Damaged: func(err error) { damaged = append(damaged, err) }})
		if err != nil || len(damaged) != 7 || c.DamagedRows != 7 || c.RemovedRows != 3 || c.Due != 10 {
			t.Errorf("%+v, %v", c, err)
		}
		for _, err := range damaged {
			if !errors.Is(err, storeerr.Integrity) {
				t.Errorf("%v, want integrity", err)
			}
		}
		if n := f.do(t, "ZCARD", f.keys.Cleanup()); n != int64(7) {
			t.Errorf("%v keys stay in the queue", n)
		}
	})
}

// What is written beside a pass stays, and what it took away it counts once.
func TestCollectBesideWriters(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		f := newFixture(t, s)
		const rows = 2000
		key := func(i int) string { return fmt.Sprintf("%04d", i) }
		var put, gone Batch
		for i := range rows {
			put.Mutations = append(put.Mutations, Put(key(i), "old", Never()))
			gone.Mutations = append(gone.Mutations, Delete(key(i)))
		}
		f.write(t, put)
		f.write(t, gone)
		f.makeDue(t)

		wrote := make(chan struct{})
		go func() {
			defer close(wrote)
			for i := rows - 1; i >= 0; i -= 7 {
				f.put(t, key(i), "new")
			}
		}()
		c, err := f.CollectAll(ctx, CollectOptions{Batch: 16})
		<-wrote
		if err != nil || c.RemovedRows > rows || c.RemovedEntries != 0 || c.DamagedRows != 0 {
			t.Errorf("%+v, %v", c, err)
		}
		f.checkInvariants(t)
		found, _, err := scanned(ctx, f, ScanOptions{})
		if want := (rows + 6) / 7; err != nil || len(found) != want {
			t.Errorf("%d rows are left of %d that were written, %v", len(found), want, err)
		}
		for _, row := range found {
			if row.Value != "new" {
				t.Errorf("key %s has %q", row.Key, row.Value)
			}
		}
	})
}

// Below a version that does not decode the good one stays, whether snapshots
// are open or not: it is what a repair brings back.
func TestDamageIsNotCollected(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		f := newFixture(t, s)
		f.put(t, "k", "good")
		f.do(t, "INCRBY", f.keys.Sequence(), 100)
		f.do(t, "ZADD", f.keys.Row("k"), 50, "\x02")
		f.do(t, "ZADD", f.keys.Cleanup(), 1, "k")
		for range 2 {
			got, err := f.CollectAll(ctx, CollectOptions{})
			if want := (Collected{Due: 1, DamagedRows: 1}); err != nil || got != want {
				t.Errorf("%+v, %v, want %+v", got, err, want)
			}
			if n := f.rdb.ZCard(ctx, f.keys.Row("k")).Val(); n != 2 {
				t.Errorf("the row has %d versions, want 2", n)
			}
			if _, err := f.OpenSnapshot(ctx, ""); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A pass without changes counts under snapshots and damage what one with them
// does.
func TestDryRunUnderSnapshots(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		f := newFixture(t, s)
		f.put(t, "k", "1")
		f.put(t, "d", "1")
		f.put(t, "string", "1")
		if _, err := f.OpenSnapshot(ctx, ""); err != nil {
			t.Fatal(err)
		}
		for _, value := range []string{"2", "3"} {
			f.put(t, "k", value)
		}
		f.delete(t, "d")
		now := f.put(t, "x", "v").Now
		f.do(t, "ZADD", f.keys.Row("k"), 0, member("k", "older", "0"))
		f.do(t, "DEL", f.keys.Row("string"))
		f.do(t, "SET", f.keys.Row("string"), "x")
		f.do(t, "ZADD", f.keys.Row("d"), 99, "\x02")
		f.do(t, "ZADD", f.keys.Cleanup(), 1, "k", 1, "d", 1, "string", 1, "gone")
		f.do(t, "ZADD", f.keys.SnapshotExpiry(), now-endedAfter, "ended")
		f.do(t, "ZADD", f.keys.SnapshotBoundary(), 1, "ended")
		want := Collected{EndedSnapshots: 1, Due: 4, RemovedEntries: 1, HeldBack: 1, DroppedVersions: 1, DamagedRows: 2}
		for _, dry := range []bool{true, false} {
			damaged := 0
			got, err := f.CollectAll(ctx, CollectOptions{DryRun: dry, Batch: 3, Damaged: func(error) { damaged++ }})
			if err != nil || got != want || damaged != 2 {
				t.Errorf("dry run %v: %+v, %v, %d damaged, want %+v", dry, got, err, damaged, want)
			}
		}
	})
}

func TestCollectRefuses(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		f.put(t, "k", "v")
		f.delete(t, "k")
		f.makeDue(t)
		f.do(t, "DEL", f.keys.Map())
		f.do(t, "SET", f.keys.Map(), "x")
		before := f.dump(t)
		if _, err := f.CollectAll(context.Background(), CollectOptions{}); !errors.Is(err, storeerr.Integrity) {
			t.Errorf("a map of another type: %v", err)
		}
		if after := f.dump(t); !maps.Equal(before, after) {
			t.Errorf("the refusal changed %v to %v", before, after)
		}
		for _, batch := range []int{-1, MaxCollectBatch + 1} {
			if _, err := f.CollectAll(context.Background(), CollectOptions{Batch: batch}); !errors.Is(err, storeerr.Invalid) {
				t.Errorf("batch %d: %v", batch, err)
			}
		}
	})
}

func TestDeleteUnder(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		f := newFixture(t, s)
		for _, key := range []string{"a*c", "abc", "a*", "a*d", "b"} {
			f.put(t, key, "v")
		}
		f.delete(t, "a*d")
		d, err := f.DeleteUnder(ctx, "a*", DeleteUnderOptions{DryRun: true})
		if err != nil || d.Deleted != 2 {
			t.Errorf("dry run: %+v, %v", d, err)
		}
		f.do(t, "ZADD", f.keys.Row("a*"), 99, "\x02")
		if d, err = f.DeleteUnder(ctx, "a*", DeleteUnderOptions{}); err != nil || d.Deleted != 1 || len(d.Skipped) != 1 || d.Last != "a*d" {
			t.Errorf("%+v, %v", d, err)
		}
		rows, damaged, err := scanned(ctx, f, ScanOptions{Live: true})
		if err != nil || fmt.Sprint(keysOfRows(rows), damaged) != "[abc b] [a*]" {
			t.Errorf("left %q, damaged %q, %v", keysOfRows(rows), damaged, err)
		}
	})
}

// What was there goes, whatever is written behind the walk's back; each key
// counts once.
func TestDeleteUnderBesideWriters(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		f := newFixture(t, s)
		const old = 2000
		var b Batch
		for i := range old {
			b.Mutations = append(b.Mutations, Put(fmt.Sprintf("p/%05d", i), "old", Never()))
		}
		f.write(t, b)
		f.do(t, "ZADD", f.keys.Index(), 0, "p/"+strings.Repeat("x", MaxKeyBytes))

		stop, wrote := make(chan struct{}), make(chan int)
		go func() {
			n := 0
			for ; ; n++ {
				select {
				case <-stop:
					wrote <- n
					return
				default:
					f.put(t, fmt.Sprintf("p/%05d-new", n*7%old), "new")
				}
			}
		}()
		d, err := f.DeleteUnder(ctx, "p/", DeleteUnderOptions{})
		close(stop)
		added := <-wrote
		if err != nil || d.Deleted < old || d.Deleted > int64(old+added) || len(d.Skipped) != 1 {
			t.Errorf("deleted %d of %d old and %d new keys, skipped %v, %v", d.Deleted, old, added, d.Skipped, err)
		}
		rows, _, err := scanned(ctx, f, ScanOptions{Prefix: "p/"})
		if err != nil || int64(len(rows)) > int64(old+added)-d.Deleted {
			t.Errorf("%d rows are left after %d were deleted, %v", len(rows), d.Deleted, err)
		}
		for _, row := range rows {
			if row.Value == "old" {
				t.Errorf("key %q is still there", row.Key)
			}
		}
	})
}

// More items than Lua's unpack takes at once.
func TestLargeBatches(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		sizes := []int{7998, 7999, 8000, 20001}
		if !s.Real {
			sizes = []int{8000}
		}
		for _, n := range sizes {
			ctx := context.Background()
			f := newFixture(t, s)
			for i := 0; i < n; i += MaxBatchKeys {
				var b Batch
				for j := i; j < min(n, i+MaxBatchKeys); j++ {
					b.Mutations = append(b.Mutations, Put(fmt.Sprintf("%06d", j), "v", Never()))
				}
				f.write(t, b)
			}
			d, err := f.DeleteUnder(ctx, "", DeleteUnderOptions{})
			if err != nil || d.Deleted != int64(n) {
				t.Errorf("deleted %+v, %v, want %d", d, err, n)
			}
			f.makeDue(t)
			c, err := f.CollectAll(ctx, CollectOptions{Batch: MaxCollectBatch})
			if err != nil || c.RemovedRows != int64(n) {
				t.Errorf("collected %+v, %v, want %d", c, err, n)
			}
			if left := f.do(t, "EXISTS", f.keys.Index(), f.keys.Map(), f.keys.Cleanup()); left != int64(0) {
				t.Errorf("%v bookkeeping keys are left", left)
			}
		}
	})
}

func TestHistory(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		f := newFixture(t, s)
		f.put(t, "k", "0")
		if _, err := f.OpenSnapshot(ctx, ""); err != nil {
			t.Fatal(err)
		}
		const versions = 70
		for i := 1; i < versions; i++ {
			f.put(t, "k", fmt.Sprint(i))
		}
		f.delete(t, "k")
		f.do(t, "ZADD", f.keys.Row("k"), 0, "\x02")
		_, history, err := f.History(ctx, "k")
		if err != nil || len(history) != versions+2 {
			t.Fatalf("%d versions, %v", len(history), err)
		}
		if v := history[0]; !v.Tombstone || v.Live || v.Sequence != versions+1 {
			t.Errorf("newest %+v", v)
		}
		if v := history[versions]; v.Value != "0" || v.Version != "1" || v.Live || v.Tombstone {
			t.Errorf("first %+v", v)
		}
		if v := history[versions+1]; !errors.Is(v.Err, storeerr.Integrity) {
			t.Errorf("damaged %+v", v)
		}
		if _, history, err = f.History(ctx, "none"); err != nil || len(history) != 0 {
			t.Errorf("of no row: %+v, %v", history, err)
		}
		f.do(t, "SET", f.keys.Row("wrong"), "x")
		if _, _, err = f.History(ctx, "wrong"); !errors.Is(err, storeerr.Integrity) {
			t.Errorf("of a string: %v", err)
		}
	})
}

func TestSnapshotCapacity(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		f := newFixture(t, s)
		now := f.put(t, "k", "v").Now
		args := []any{"ZADD", f.keys.SnapshotExpiry()}
		for i := range MaxSnapshots {
			args = append(args, now+60_000, fmt.Sprint(i))
		}
		f.do(t, args...)
		before := f.dump(t)
		if _, err := f.OpenSnapshot(ctx, ""); !errors.Is(err, storeerr.Capacity) {
			t.Errorf("%v, want capacity", err)
		}
		if after := f.dump(t); !maps.Equal(before, after) {
			t.Error("the refusal changed something")
		}
		if _, err := f.DropSnapshot(ctx, "0"); err != nil {
			t.Fatal(err)
		}
		snapshot, err := f.OpenSnapshot(ctx, "p")
		if err != nil || snapshot.Boundary != "1" || snapshot.Prefix != "p" {
			t.Errorf("%+v, %v", snapshot, err)
		}
		if err := f.RenewSnapshot(ctx, snapshot.ID); err != nil {
			t.Error(err)
		}
		f.do(t, "ZREM", f.keys.SnapshotExpiry(), snapshot.ID)
		if err := f.RenewSnapshot(ctx, snapshot.ID); !errors.Is(err, storeerr.Expired) {
			t.Errorf("renewing half a snapshot: %v, want expired", err)
		}
		if existed, err := f.DropSnapshot(ctx, snapshot.ID); err != nil || existed {
			t.Errorf("something was left of it: %v, %v", existed, err)
		}
	})
}
