// Moving stores between servers: around all shapes of Redis, and killed on the
// way.

package main_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
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

// kills is how many copies are killed. Each is at another point.
const kills = 4

func TestCopyKilled(t *testing.T) {
	t.Parallel()
	from, to := testserver.Real(t), testserver.Real(t)
	fillStores(t, from.Client(t), "app", 2000, 20, 60)
	copyArgs := func(url, prefix string) []string { return []string{"copy", "--to-url", url, "--to-prefix", prefix} }

	// What an undisturbed copy sends, on the connection that sends most.
	proxy := startProxy(t, to)
	start(t, from.URL, copyArgs("redis://"+proxy.Addr(), "whole")...).ends(0)
	noError(t, proxy.Close())
	var most int64
	for i := range proxy.Connections() {
		most = max(most, proxy.Carried(i+1, faultproxy.Request))
	}
	for i := range kills {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			prefix := fmt.Sprint("killed-", i)
			at := 1 + rand.Int64N(most-1)
			t.Logf("killed behind %d of %d bytes", at, most)
			proxy := startProxy(t, to, faultproxy.Fault{Stream: faultproxy.Request, At: at, Action: faultproxy.Blackhole})
			p := start(t, from.URL, copyArgs("redis://"+proxy.Addr(), prefix)...)
			killAt(p, proxy, at)
			noError(t, proxy.Close())

			before := versions(t, to, prefix)
			start(t, from.URL, copyArgs(to.URL, prefix)...).ends(0)
			after := versions(t, to, prefix)
			t.Logf("%d of %d rows and chunks were there", len(before), len(after))
			for key, version := range before {
				if after[key] != version {
					t.Errorf("%s had the version %s and was written again, as %s", key, version, after[key])
				}
			}
			if out, errs, status := execute(t, to, "diff", "--left-url", from.URL, "--left-prefix", "app", "--right-prefix", prefix); status != 0 {
				t.Errorf("run again it differs: %d, %s%s", status, out, errs)
			}
			if out, errs, status := execute(t, to, "diff", "--left-prefix", "whole", "--right-prefix", prefix); status != 0 {
				t.Errorf("run again it differs from the undisturbed copy: %d, %s%s", status, out, errs)
			}
		})
	}
}

func startProxy(t *testing.T, s testserver.Server, faults ...faultproxy.Fault) *faultproxy.Proxy {
	t.Helper()
	proxy, err := faultproxy.Start("unix", strings.TrimPrefix(s.URL, "unix://"), faults...)
	noError(t, err)
	return proxy
}

// killAt kills a process when a connection has carried so many bytes of
// requests, unless it ends before: not every run spreads them alike.
func killAt(p *process, proxy *faultproxy.Proxy, at int64) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.cmd.Wait()
	}()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for there := false; !there; {
		for i := range proxy.Connections() {
			there = there || proxy.Carried(i+1, faultproxy.Request) >= at
		}
		select {
		case <-ended:
			return
		case <-again.C:
		}
	}
	_ = p.cmd.Process.Kill()
	<-ended
}

// versions returns the version of every row and the token of every chunk. Each
// row has but one version.
func versions(t *testing.T, s testserver.Server, prefix string) map[string]string {
	t.Helper()
	all := map[string]string{}
	client := s.Client(t)
	versioned, err := opaque.New(client, prefix)
	noError(t, err)
	for row, err := range versioned.Scan(t.Context(), opaque.ScanOptions{Live: true}) {
		noError(t, err)
		all["row "+row.Key] = row.Version
		if n := client.ZCard(t.Context(), versioned.Keys().Row(row.Key)).Val(); n != 1 {
			t.Errorf("the row %q has %d versions", row.Key, n)
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
