// A failover in the middle of reading and of writing.

package main_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/cmd"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

func (top *topologies) testSentinel(t *testing.T) {
	t.Run("scan", top.scanThroughFailover)
	t.Run("import", top.importThroughFailover)
	t.Run("puts", func(t *testing.T) {
		t.Run("failover", func(t *testing.T) { top.putThrough(t, "planned", 2500, top.sentinel.Failover) })
		t.Run("master killed", func(t *testing.T) { top.putThrough(t, "crash", 500, top.sentinel.KillMaster) })
	})
}

// master returns a client of the master that is now.
func (top *topologies) master(t *testing.T) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: top.sentinel.Master.Addr(), Password: "data"})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// replicated waits until the replica has all that the master has, which gets a
// key more.
func replicated(t *testing.T, master *redis.Client, key string) {
	t.Helper()
	conn := master.Conn()
	defer conn.Close()
	noError(t, conn.Set(t.Context(), key, "?", 0).Err())
	if n, err := conn.Do(t.Context(), "WAIT", 1, 60_000).Int(); err != nil || n != 1 {
		t.Fatalf("%d replicas have caught up: %v", n, err)
	}
}

func (top *topologies) scanThroughFailover(t *testing.T) {
	rows := 50_000
	if testing.Short() {
		rows = 5000
	}
	master := top.master(t)
	writeRows(t, master, "scan", rows)
	replicated(t, master, "any")
	status, keys := scanThrough(t, top.env("sentinel", "scan"), rows/5, func() {
		replicated(t, master, "any") // the snapshot, too
		top.sentinel.Failover(t)
	})
	checkScanned(t, status, keys, rows)
}

// writeRows writes rows with the keys key/000000 and on.
func writeRows(t *testing.T, rdb redis.UniversalClient, prefix string, rows int) {
	t.Helper()
	store, err := opaque.New(rdb, prefix)
	noError(t, err)
	all := make([]opaque.Mutation, rows)
	for i := range all {
		all[i] = opaque.Put(fmt.Sprintf("key/%06d", i), strconv.Itoa(i), opaque.Never())
	}
	for batch := range slices.Chunk(all, 1000) {
		if _, err := store.Write(t.Context(), opaque.Batch{Mutations: batch}); err != nil {
			t.Fatal(err)
		}
	}
}

// scanThrough scans, and lets something happen once so many rows have come. It
// returns the exit status and the keys.
func scanThrough(t *testing.T, env map[string]string, rows int, happen func()) (status int, keys []string) {
	t.Helper()
	return through(t, env, rows, happen, "scan", "--keys-only")
}

// through runs a command, and lets something happen once so many lines have
// come, before any more are taken. It returns the exit status and the words.
func through(t *testing.T, env map[string]string, lines int, happen func(), args ...string) (status int, words []string) {
	t.Helper()
	out := &pausing{lines: lines, pause: happen}
	var errors bytes.Buffer
	f := &cmd.Factory{In: strings.NewReader(""), Out: out, Err: &errors, Getenv: func(name string) string { return env[name] }}
	status = f.Run(t.Context(), args)
	if errors.Len() > 0 {
		t.Logf("%q ended with status %d and said %s", args, status, &errors)
	}
	return status, strings.Fields(out.String())
}

// pausing is a writer that makes a pause behind so many lines.
type pausing struct {
	bytes.Buffer
	lines int
	pause func()
}

func (p *pausing) Write(b []byte) (int, error) {
	n, err := p.Buffer.Write(b)
	if p.pause != nil && bytes.Count(p.Bytes(), []byte("\n")) >= p.lines {
		p.pause()
		p.pause = nil
	}
	return n, err
}

// checkScanned holds that each row came once and in order: all of them, or as
// many as came before an honest end.
func checkScanned(t *testing.T, status int, keys []string, rows int) {
	t.Helper()
	for i, key := range keys {
		if want := fmt.Sprintf("key/%06d", i); key != want {
			t.Fatalf("row %d is %s, want %s", i, key, want)
		}
	}
	if status != 0 && status != 8 || status == 0 && len(keys) != rows {
		t.Errorf("%d rows and exit status %d, want %d and 0, or fewer and 8", len(keys), status, rows)
	}
}

// putThrough puts keys, half of them before something happens and half while it
// does, and holds each exit status against what is there then. What was
// replicated before has to be; what a master took that had been replaced
// already is lost, as Redis has it.
func (top *topologies) putThrough(t *testing.T, prefix string, before int, happen func(testing.TB)) {
	if testing.Short() {
		before = 100
	}
	puts := putter{env: top.env("sentinel", prefix), statuses: map[string]int{}}
	puts.run(t.Context(), func() bool { return puts.next.Load() < int64(before) })
	master := top.master(t)
	replicated(t, master, "any")
	safe := puts.next.Load()

	ctx, over := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		puts.run(t.Context(), func() bool { return ctx.Err() == nil || puts.next.Load() < int64(2*before) })
	})
	happen(t)
	over()
	all.Wait()

	store, err := opaque.New(top.master(t), prefix)
	noError(t, err)
	versions := map[string]string{}
	for row, err := range store.Scan(t.Context(), opaque.ScanOptions{Live: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if other, twice := versions[row.Version]; twice {
			t.Errorf("%s and %s have the version %s", row.Key, other, row.Version)
		}
		versions[row.Version] = row.Key
		if status := puts.statuses[row.Key]; status != 0 && status != 9 {
			t.Errorf("%s is there, and its put ended with status %d", row.Key, status)
		}
		delete(puts.statuses, row.Key)
	}
	counter, err := top.master(t).Get(t.Context(), store.Keys().Sequence()).Int()
	noError(t, err)
	if counter != len(versions) {
		t.Errorf("the counter is %d with %d rows: a put was applied twice", counter, len(versions))
	}
	lost := map[int]int{}
	for key, status := range puts.statuses {
		lost[status]++
		number, err := strconv.ParseInt(key, 10, 64)
		noError(t, err)
		if number <= safe || status != 0 && status != 6 && status != 8 && status != 9 {
			t.Errorf("%s is not there, and its put ended with status %d", key, status)
		}
	}
	t.Logf("%d puts, %d applied; not applied, by status: %v", puts.next.Load(), counter, lost)
}

// putter puts keys of its own, several at a time.
type putter struct {
	env  map[string]string
	next atomic.Int64

	mu       sync.Mutex
	statuses map[string]int // by key
}

// run goes on while more says so.
func (p *putter) run(ctx context.Context, more func() bool) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for more() {
				key := strconv.FormatInt(p.next.Add(1), 10)
				r := runWith(ctx, p.env, "", "put", key, "value")
				p.mu.Lock()
				p.statuses[key] = r.status
				p.mu.Unlock()
			}
		})
	}
	all.Wait()
}
