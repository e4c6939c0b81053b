// Moving stores between servers: around all shapes of Redis, and killed on the
// way.

package main_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/faultproxy"
	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// fillStores gives all three stores of a prefix something of every kind.
func fillStores(t *testing.T, rdb redis.UniversalClient, prefix string, rows, blobs, chunks int) {
	t.Helper()
	versioned, err := opaque.New(rdb, prefix)
	noError(t, err)
	var batch []opaque.Mutation
	for i := range rows {
		key := []string{"key/%d", "mesh\x00%d\x00é日本", "\xff\xfe%d", strings.Repeat("k", 1000) + "%d"}[i%4]
		value := []string{"", `{"n":1}`, "a\x00b\xff", strings.Repeat("v", 5000)}[i/4%4]
		expiry := opaque.Never()
		if i%3 == 0 {
			expiry = opaque.After(time.Duration(1+i) * time.Hour)
		}
		batch = append(batch, opaque.Put(fmt.Sprintf(key, i), value, expiry))
	}
	batch[0] = opaque.Put("large", strings.Repeat("\x00", opaque.MaxValueBytes), opaque.Never())
	for part := range slices.Chunk(batch, 500) {
		_, err := versioned.Write(t.Context(), opaque.Batch{Mutations: part})
		noError(t, err)
	}
	_, err = versioned.Write(t.Context(), opaque.Batch{Mutations: []opaque.Mutation{opaque.Delete(batch[1].Key)}})
	noError(t, err)

	store, err := blob.New(rdb, prefix)
	noError(t, err)
	for i := range blobs {
		_, err := store.Put(t.Context(), fmt.Sprintf("ref:{%d}/é", i), []byte(strings.Repeat("\xffx", i*i*100)), 3_600_000)
		noError(t, err)
	}
	segments, err := warm.New(rdb, prefix)
	noError(t, err)
	for i := range chunks {
		segment := warm.Segment{Namespace: []string{"", "eu", "us"}[i%3], Name: "users"}
		_, err := segments.Create(t.Context(), segment, uint16(i*700), []byte(strings.Repeat("c", i)))
		noError(t, err)
	}
}

// copyAround copies from shape to shape and back to where it began.
func (top *topologies) copyAround(t *testing.T) {
	fillStores(t, top.standalone.Client(t), "around-0", 1000, 20, 60)
	env := top.env("standalone", "around-0")
	delete(env, "KEYSPACECTL_CONTEXT")
	delete(env, "KEYSPACECTL_PREFIX")
	way := []string{"standalone", "cluster", "sentinel", "cluster", "standalone"}
	for i, from := range way[:len(way)-1] {
		args := []string{
			"copy", "--from-context", from, "--from-prefix", fmt.Sprint("around-", i),
			"--to-context", way[i+1], "--to-prefix", fmt.Sprint("around-", i+1), "--verify",
		}
		if r := runWith(t.Context(), env, "", args...); r.status != 0 {
			t.Fatalf("%v: %+v", args, r)
		}
	}
	last := fmt.Sprint("around-", len(way)-1)
	r := runWith(t.Context(), env, "", "diff", "--context", "standalone", "--left-prefix", "around-0", "--right-prefix", last)
	if r.status != 0 || r.out != "" || r.errors != "note: 1079 equal records\n" {
		t.Errorf("behind the way around: %+v", r)
	}
	if r := runWith(t.Context(), env, "", "copy", "--from-context", "cluster", "--to-url", top.cluster.Masters[0].URL, "--prefix", "around-1"); r.status != 2 {
		t.Errorf("to a node of the cluster itself: %+v", r)
	}
}

// kills is how many copies are killed. Each is at a point of its own.
const kills = 20

// TestCopyEndsEarly ends copies when so many bytes have reached the destination,
// by a signal or killed, and copies again.
func TestCopyEndsEarly(t *testing.T) {
	t.Parallel()
	from, to := testserver.Real(t), testserver.Real(t)
	const rows, chunks = 600, 30
	fillStores(t, from.Client(t), "app", rows, 12, chunks)

	start(t, from.URL, "copy", "--to-url", to.URL, "--to-prefix", "whole").ends(0)
	// The first copy also brought the scripts.
	proxy := startProxy(t, to)
	start(t, from.URL, copying(proxy, "measured")...).ends(0)
	noError(t, proxy.Close())
	equalSides(t, to, "--left-url", from.URL, "--left-prefix", "app", "--right-prefix", "whole")
	all := proxy.CarriedTogether(faultproxy.Request)
	signalEndsCopy(t, from, to, all/2)
	midway := 0
	for i := range int64(kills) {
		prefix := fmt.Sprint("killed-", i)
		keepVersions(t, to, prefix)
		// Not all runs send the same: the last bytes may not come.
		at := 1 + (i*all+rand.Int64N(all))*9/10/kills
		proxy := startProxy(t, to, faultproxy.Fault{Connection: faultproxy.Together, Stream: faultproxy.Request, At: at, Action: faultproxy.Blackhole})
		killAt(t, start(t, from.URL, copying(proxy, prefix)...), proxy, at)

		before := versions(t, to, prefix)
		if len(before) > 0 && len(before) < rows-1+chunks {
			midway++
		}
		start(t, from.URL, "copy", "--to-url", to.URL, "--to-prefix", prefix).ends(0)
		after := versions(t, to, prefix)
		for key, version := range before {
			if after[key] != version {
				t.Errorf("%s had the version %s and was written again, as %s", key, version, after[key])
			}
		}
		equalSides(t, to, "--left-prefix", "whole", "--right-prefix", prefix)
		if t.Failed() {
			t.Fatalf("killed behind %d of %d bytes, with %d rows and chunks there", at, all, len(before))
		}
	}
	if midway == 0 {
		t.Errorf("none of %d copies was killed midway", kills)
	}
	t.Logf("%d of %d copies were killed between the first and the last write of rows and chunks", midway, kills)
}

// signalEndsCopy presses Ctrl-C when so many bytes have reached the
// destination, and copies again.
func signalEndsCopy(t *testing.T, from, to testserver.Server, at int64) {
	t.Helper()
	keepVersions(t, to, "signal")
	source, err := opaque.New(from.Client(t), "app")
	noError(t, err)
	proxy := startProxy(t, to, faultproxy.Fault{Connection: faultproxy.Together, Stream: faultproxy.Request, At: at, Action: faultproxy.Blackhole})
	p := start(t, from.URL, copying(proxy, "signal")...)
	if !awaitCarried(p, proxy, at) {
		t.Fatalf("the copy ended by itself: %s", p.stderr.String())
	}
	p.signal(os.Interrupt)
	p.ends(130)
	noError(t, proxy.Close())
	if said := p.stderr.String(); !strings.Contains(said, "the same command") || strings.ContainsAny(said, "\r\x1b") {
		t.Errorf("it said %q", said)
	}
	noSnapshots(t, source)
	before := versions(t, to, "signal")
	start(t, from.URL, "copy", "--to-url", to.URL, "--to-prefix", "signal").ends(0)
	after := versions(t, to, "signal")
	for key, version := range before {
		if after[key] != version {
			t.Errorf("%s had the version %s and was written again, as %s", key, version, after[key])
		}
	}
	equalSides(t, to, "--left-prefix", "whole", "--right-prefix", "signal")
	noSnapshots(t, source)
}

func copying(to *faultproxy.Proxy, prefix string) []string {
	return []string{"copy", "--to-url", "redis://" + to.Addr(), "--to-prefix", prefix, "--timeout", "1m"}
}

// equalSides holds that a diff with these flags finds no difference.
func equalSides(t *testing.T, s testserver.Server, flags ...string) {
	t.Helper()
	if out, errs, status := execute(t, s, append([]string{"diff"}, flags...)...); status != 0 || !strings.HasSuffix(errs, " equal records\n") {
		t.Errorf("%q: %d, %.2000s%.2000s", flags, status, out, errs)
	}
}

// keepVersions opens what guards a snapshot of the empty store, for an hour:
// no row gets rid of a version that was written.
func keepVersions(t *testing.T, s testserver.Server, prefix string) {
	t.Helper()
	keys, err := opaque.NewKeys(prefix)
	noError(t, err)
	client := s.Client(t)
	noError(t, client.ZAdd(t.Context(), keys.SnapshotBoundary(), redis.Z{Score: 0, Member: "guard"}).Err())
	ends := float64(time.Now().Add(time.Hour).UnixMilli())
	noError(t, client.ZAdd(t.Context(), keys.SnapshotExpiry(), redis.Z{Score: ends, Member: "guard"}).Err())
}

func startProxy(t *testing.T, s testserver.Server, faults ...faultproxy.Fault) *faultproxy.Proxy {
	t.Helper()
	proxy, err := faultproxy.Start("unix", strings.TrimPrefix(s.URL, "unix://"), faults...)
	noError(t, err)
	return proxy
}

// killAt kills a process when so many bytes of requests have come to the
// proxy's server, and returns when the server has done all that reached it.
func killAt(t *testing.T, p *process, proxy *faultproxy.Proxy, at int64) {
	t.Helper()
	if !awaitCarried(p, proxy, at) {
		t.Errorf("the process ended before %d bytes were carried: %s", at, p.stderr.String())
	}
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	noError(t, proxy.Close())
}

// awaitCarried waits until a proxy has passed on so many bytes of requests. It
// reports false if the process printed its result before.
func awaitCarried(p *process, proxy *faultproxy.Proxy, at int64) bool {
	return awaitStream(p, proxy, faultproxy.Request, at)
}

// awaitStream is awaitCarried for either stream.
func awaitStream(p *process, proxy *faultproxy.Proxy, stream faultproxy.Stream, at int64) bool {
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		_, _ = p.lines.Peek(1)
	}()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for proxy.CarriedTogether(stream) < at {
		select {
		case <-printed:
			return false
		case <-again.C:
		}
	}
	return true
}

// versions returns the version of every row and the token of every chunk. Each
// row was written but once, if keepVersions was called before.
func versions(t *testing.T, s testserver.Server, prefix string) map[string]string {
	t.Helper()
	all := map[string]string{}
	client := s.Client(t)
	versioned, err := opaque.New(client, prefix)
	noError(t, err)
	pipe := client.Pipeline()
	counts := map[string]*redis.IntCmd{}
	for row, err := range versioned.Scan(t.Context(), opaque.ScanOptions{Live: true}) {
		noError(t, err)
		all["row "+row.Key] = row.Version
		counts[row.Key] = pipe.ZCard(t.Context(), versioned.Keys().Row(row.Key))
	}
	_, err = pipe.Exec(t.Context())
	noError(t, err)
	for key, count := range counts {
		if count.Val() != 1 {
			t.Errorf("the row %q has %d versions", key, count.Val())
		}
	}
	segments, err := warm.New(client, prefix)
	noError(t, err)
	for info, err := range segments.Segments(t.Context(), nil) {
		noError(t, err)
		for chunk, err := range segments.List(t.Context(), info.Segment, warm.ListOptions{}) {
			noError(t, err)
			all[fmt.Sprint("chunk ", info.Segment, chunk.Number)] = chunk.Token
		}
	}
	return all
}
