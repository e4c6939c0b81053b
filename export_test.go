// Exports beside others that write, and ones that end early.

package main_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/faultproxy"
	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// logged is a write as its writer noted it down.
type logged struct {
	sequence int64
	key      string
	deleted  bool
	value    string
	expires  int64 // ms since the epoch, 0 = never
}

// writers write to the same rows at the same time, and keep a log.
type writers struct {
	store *opaque.Store
	keys  int
	begun int64 // the server's time, ms

	written atomic.Int64
	mu      sync.Mutex
	log     []logged
	stop    context.CancelFunc
	running sync.WaitGroup
	more    chan struct{} // told of each write
	stopped <-chan struct{}
}

func startWriters(t *testing.T, rdb *redis.Client, keys, count int) *writers {
	t.Helper()
	store, err := opaque.New(rdb, "app")
	noError(t, err)
	now, err := rdb.Time(t.Context()).Result()
	noError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	w := &writers{store: store, keys: keys, begun: now.UnixMilli(), stop: stop, more: make(chan struct{}, 1), stopped: ctx.Done()}
	for part := range slices.Chunk(slices.Collect(numbers(keys)), 500) {
		w.write(ctx, t, "filler", part)
	}
	for i := range count {
		w.running.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				// While a snapshot is open, a row takes 127 more versions.
				w.write(ctx, t, fmt.Sprintf("writer-%d/%d", i, n%100), []int{rand.IntN(keys), rand.IntN(keys)})
			}
		})
	}
	// What is due is collected all the time, and everything is due at once.
	w.running.Go(func() {
		for ctx.Err() == nil {
			due := store.Keys().Cleanup()
			for _, key := range rdb.ZRange(ctx, due, 0, 99).Val() {
				rdb.ZAddXX(ctx, due, redis.Z{Score: 1, Member: key})
			}
			if _, err := store.Collect(ctx, opaque.PassSize); err != nil && ctx.Err() == nil {
				t.Errorf("collecting: %v", err)
			}
		}
	})
	return w
}

func numbers(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

// write changes some rows in one batch. A row of the writer itself is put with
// them, and its version tells the sequence of the batch.
func (w *writers) write(ctx context.Context, t *testing.T, name string, rows []int) {
	slices.Sort(rows)
	values := strings.Repeat("v", 150) + strconv.FormatInt(w.written.Load(), 10)
	batch := opaque.Batch{Mutations: []opaque.Mutation{opaque.Put(name, values, opaque.Never())}}
	entries := []logged{{key: name, value: values}}
	for _, row := range slices.Compact(rows) {
		entry := logged{key: fmt.Sprintf("row/%05d", row), value: values + name}
		switch rand.IntN(4) {
		case 0:
			entry.deleted, entry.value = true, ""
			batch.Mutations = append(batch.Mutations, opaque.Delete(entry.key))
		case 1:
			// Before, at and after the moments of the exports.
			entry.expires = w.begun + rand.Int64N(5000)
			batch.Mutations = append(batch.Mutations, opaque.Put(entry.key, entry.value, opaque.At(entry.expires)))
		default:
			batch.Mutations = append(batch.Mutations, opaque.Put(entry.key, entry.value, opaque.Never()))
		}
		entries = append(entries, entry)
	}
	// A write that was begun is finished, so that the log is whole.
	applied, err := w.store.Write(context.WithoutCancel(ctx), batch)
	switch {
	case errors.Is(err, storeerr.Backlog):
		return // refused: a snapshot is open, and the row is full
	case err != nil:
		t.Errorf("writing: %v", err)
		w.stop()
		return
	}
	sequence, err := strconv.ParseInt(applied.Version, 10, 64)
	noError(t, err)
	for i := range entries {
		entries[i].sequence = sequence
	}
	w.mu.Lock()
	w.log = append(w.log, entries...)
	w.mu.Unlock()
	w.written.Add(1)
	select {
	case w.more <- struct{}{}:
	default:
	}
}

// await waits until so many more batches were written.
func (w *writers) await(t *testing.T, batches int64) {
	t.Helper()
	for until := w.written.Load() + batches; w.written.Load() < until && !t.Failed(); {
		select {
		case <-w.more:
		case <-w.stopped:
			return
		}
	}
}

// at is what is live at a sequence and a moment, by the log.
func (w *writers) at(boundary, moment int64) map[string]logged {
	slices.SortStableFunc(w.log, func(a, b logged) int { return int(a.sequence - b.sequence) })
	state := map[string]logged{}
	for _, l := range w.log {
		if l.sequence <= boundary {
			state[l.key] = l
		}
	}
	maps.DeleteFunc(state, func(_ string, l logged) bool { return l.deleted || l.expires > 0 && l.expires <= moment })
	return state
}

// TestExportBesideWriters holds exports against the log of all writes: each is
// the state at its boundary and its moment, whatever came meanwhile.
func TestExportBesideWriters(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t)
	w := startWriters(t, s.Client(t), 5000, 4)
	type exported struct {
		header archive.Header
		rows   []archive.Record
	}
	var all []exported
	for range 3 {
		w.await(t, 100)
		p := start(t, s.URL, "export", "--store", "opaque")
		// Nobody takes more than what has come while others write.
		in, err := archive.NewReader(p.lines)
		if err != nil {
			t.Fatal(err)
		}
		e := exported{header: in.Header()}
		for record, err := range in.Records() {
			if err != nil {
				t.Fatal(err)
			}
			if len(e.rows)%1000 == 0 {
				w.await(t, 100)
			}
			e.rows = append(e.rows, record)
		}
		p.ends(0)
		p.says("")
		all = append(all, e)
	}
	live := start(t, s.URL, "export", "--store", "opaque", "--live")
	in, err := archive.NewReader(live.lines)
	if err != nil || !in.Header().Options.Live || in.Header().Boundary != "" {
		t.Errorf("header of a live export %+v, %v", in.Header(), err)
	}
	_, err = io.Copy(io.Discard, live.lines)
	noError(t, err)
	live.ends(0)
	w.stop()
	w.running.Wait()
	noSnapshots(t, w.store)

	last := int64(0)
	for _, e := range all {
		boundary, err := strconv.ParseInt(e.header.Boundary, 10, 64)
		if err != nil || boundary <= last || boundary >= w.log[len(w.log)-1].sequence {
			t.Errorf("the boundary is %q, behind %d: %v", e.header.Boundary, last, err)
		}
		last = boundary
		want := w.at(boundary, e.header.Moment)
		for _, row := range e.rows {
			l, there := want[row.Key]
			if !there || strconv.FormatInt(l.sequence, 10) != row.Version || l.value != string(row.Value) || l.expires != row.ExpiresAt {
				t.Errorf("at %d and %d %q is %s, %d bytes, expires %d; the log has %+v (%v)",
					boundary, e.header.Moment, row.Key, row.Version, len(row.Value), row.ExpiresAt, l, there)
			}
			delete(want, row.Key)
		}
		if len(want) > 0 {
			t.Errorf("at %d there are %d rows more, among them %+v", boundary, len(want), slices.Collect(maps.Values(want))[0])
		}
		t.Logf("%d rows at %d of %d", len(e.rows), boundary, w.log[len(w.log)-1].sequence)
	}
}

// TestExportWithoutItsSnapshot takes the snapshot away, changes every row and
// collects: nothing newer comes out.
func TestExportWithoutItsSnapshot(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t)
	store := fill(t, s, 8000)
	path := filepath.Join(t.TempDir(), "archive.ndjson")
	p := start(t, s.URL, "export")
	in, err := archive.NewReader(p.lines)
	if err != nil {
		t.Fatal(err)
	}
	_, states, err := store.Snapshots(t.Context())
	if err != nil || len(states) != 1 {
		t.Fatalf("snapshots %+v, %v", states, err)
	}
	_, err = store.DropSnapshot(t.Context(), states[0].ID)
	noError(t, err)
	for part := range slices.Chunk(slices.Collect(numbers(8000)), 1000) {
		var batch opaque.Batch
		for _, i := range part {
			batch.Mutations = append(batch.Mutations, opaque.Put(fmt.Sprintf("key/%06d", i), "newer", opaque.Never()))
		}
		_, err := store.Write(t.Context(), batch)
		noError(t, err)
	}
	rows := 0
	var ended error
	for record, err := range in.Records() {
		if err != nil {
			ended = err
			continue
		}
		if string(record.Value) == "newer" {
			t.Fatalf("row %d is newer than the moment", rows)
		}
		rows++
	}
	if !errors.Is(ended, archive.ErrDamaged) || rows == 8000 {
		t.Errorf("%d rows came, and then %v", rows, ended)
	}
	p.ends(5)
	if says := p.stderr.String(); !strings.HasPrefix(says, "error: ") || strings.Count(says, "\n") > 2 {
		t.Errorf("it said %q", says)
	}

	// Too old by its own limit: no file appears.
	file := start(t, s.URL, "export", "--snapshot-max-age", "1ms", path)
	file.ends(5)
	if names := files(t, filepath.Dir(path)); len(names) > 0 {
		t.Errorf("files %q are left", names)
	}
	noSnapshots(t, store)
}

// TestExportEndsEarly stops an export on its way into a pipe and into a file.
func TestExportEndsEarly(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t)
	store := fill(t, s, 5000)

	p := start(t, s.URL, "export")
	p.line()
	noError(t, p.stdout.Close())
	p.ends(0)
	p.says("")
	noSnapshots(t, store)

	p = start(t, s.URL, "export", "-")
	p.line()
	p.signal(os.Interrupt)
	p.ends(130)
	p.says("error: interrupted\n")
	noSnapshots(t, store)

	// No connection brings many rows, so that the file stays half written.
	dir := t.TempDir()
	const at = 250_000
	proxy := startProxy(t, s, faultproxy.Fault{Stream: faultproxy.Reply, At: at, Action: faultproxy.Blackhole})
	p = start(t, "redis://"+proxy.Addr(), "export", filepath.Join(dir, "archive.ndjson.zst"), "--timeout", "1m")
	if !awaitStream(p, proxy, faultproxy.Reply, at) {
		t.Errorf("the export ended by itself: %s", p.stderr.String())
	}
	p.signal(os.Interrupt)
	p.ends(130)
	p.says("error: interrupted\n")
	noError(t, proxy.Close())
	if names := files(t, dir); len(names) > 0 {
		t.Errorf("files %q are left", names)
	}
	noSnapshots(t, store)

	if _, err := os.Stat("/dev/full"); err == nil {
		p = start(t, s.URL, "export", "/dev/full")
		p.ends(1)
		p.says("error: writing the archive: writing /dev/full: no space left on device\n")
		noSnapshots(t, store)
	}
}

// TestExportRoundTrip takes everything out, puts it in under another prefix
// of another server, and takes it out again: the same records.
func TestExportRoundTrip(t *testing.T) {
	t.Parallel()
	from, to := testserver.Real(t), testserver.Real(t)
	client := from.Client(t)
	fillStores(t, client, "app", 2000, 20, 60)
	store, err := blob.New(client, "app")
	noError(t, err)
	_, err = store.Put(t.Context(), "large", bytes.Repeat([]byte{0, 0xff, '"', '\n'}, 2<<20), 3_600_000)
	noError(t, err)
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first.ndjson.zst"), filepath.Join(dir, "second.ndjson.gz")
	done := func(s testserver.Server, args ...string) {
		t.Helper()
		if out, errs, status := execute(t, s, args...); status != 0 {
			t.Fatalf("%q: %d, %s%s", args, status, out, errs)
		}
	}
	done(from, "export", "--prefix", "app", "--tombstones", first)
	done(to, "import", "--prefix", "other", first, "--verify")
	equalSides(t, to, "--left-url", from.URL, "--left-prefix", "app", "--right-prefix", "other")
	equalSides(t, to, "--left-file", first, "--prefix", "other")
	done(to, "export", "--prefix", "other", second)
	equalSides(t, to, "--left-file", first, "--right-file", second)
}
