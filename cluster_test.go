// A Redis Cluster whose slots move and whose masters die while commands run.

package main_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// clusterSegments is how many segments the tests spread over the masters.
const clusterSegments = 300

func (top *topologies) testCluster(t *testing.T) {
	t.Run("refusals", top.clusterRefusals)
	t.Run("slot moves", func(t *testing.T) {
		t.Run("scan", top.scanThroughMove)
		t.Run("half moved", top.useHalfMovedSlot)
		t.Run("segments", top.listThroughMoves)
		t.Run("blobs", top.listThroughMove)
	})
	t.Run("master killed", top.scanThroughKill)
}

// client returns a client of the cluster.
func (top *topologies) client(t *testing.T) *redis.ClusterClient {
	t.Helper()
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: top.cluster.Addrs()})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func (top *topologies) clusterRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"a database": {[]string{"read", "k", "--db", "1"}, 2, "database"},
		"no slots":   {[]string{"read", "k", "--url", testserver.StartEmptyNode(t).URL, "--cluster", "--timeout", "1s"}, 8, "CLUSTERDOWN"},
	} {
		env := top.env("cluster", "app")
		if r := runWith(t.Context(), env, "", test.args...); r.status != test.status || !strings.Contains(r.errors, test.says) {
			t.Errorf("%s: %+v, want status %d and %q", name, r, test.status, test.says)
		}
	}
}

// opaqueSlot is the slot of every versioned store.
func opaqueSlot(t *testing.T, client *redis.ClusterClient) int {
	t.Helper()
	keys, err := opaque.NewKeys("any")
	noError(t, err)
	return int(client.ClusterKeySlot(t.Context(), keys.Index()).Val())
}

// toNext starts to move a slot from its master to the next one.
func (top *topologies) toNext(t *testing.T, slot int) *testserver.Migration {
	t.Helper()
	from := top.cluster.Master(slot)
	return top.cluster.BeginMigration(t, slot, from, (from+1)%len(top.cluster.Masters))
}

func (top *topologies) scanThroughMove(t *testing.T) {
	const rows = 5000
	client := top.client(t)
	writeRows(t, client, "move", rows)
	status, keys := scanThrough(t, top.env("cluster", "move"), rows/5, func() {
		move := top.toNext(t, opaqueSlot(t, client))
		for move.MoveKeys(t, 1000) {
		}
		move.Finish(t)
	})
	checkScanned(t, status, keys, rows)
	if status != 0 {
		t.Errorf("exit status %d, want 0: every key was somewhere at all times", status)
	}
}

// useHalfMovedSlot uses the store while some of its keys are at one master and
// some at another one.
func (top *topologies) useHalfMovedSlot(t *testing.T) {
	client := top.client(t)
	const rows = 200
	writeRows(t, client, "half", rows)
	move := top.toNext(t, opaqueSlot(t, client))
	move.MoveKeys(t, 3000)
	env := top.env("cluster", "half")
	env["KEYSPACECTL_TIMEOUT"] = "500ms"
	statuses := map[string]int{}
	for i := range rows {
		key := fmt.Sprintf("key/%06d", i)
		statuses[key] = runWith(t.Context(), env, "", "put", key, "new", "--if-version", "1").status
		if i == 20 {
			break // each one that has to wait takes its half second
		}
	}
	status, keys := scanThrough(t, env, rows, nil)
	checkScanned(t, status, keys, rows)
	for move.MoveKeys(t, 1000) {
	}
	move.Finish(t)
	store, err := opaque.New(client, "half")
	noError(t, err)
	for key, status := range statuses {
		_, readings, err := store.Read(t.Context(), key)
		noError(t, err)
		applied := readings[0].Row.Value == "new"
		if applied != (status == 0) || status != 0 && status != 8 {
			t.Errorf("%s: exit status %d, and applied is %v", key, status, applied)
		}
	}
}

// listThroughMoves lists the segments again and again, while the slots of some
// move from master to master.
func (top *topologies) listThroughMoves(t *testing.T) {
	segments := top.createSegments(t)
	client := top.client(t)
	env := top.env("cluster", "segments")
	top.checkListed(t, runWith(t.Context(), env, "", "warm", "segments"))
	if r := runWith(t.Context(), env, "", "export", "-"); r.status != 0 || !strings.Contains(r.out, fmt.Sprintf(`"chunks":%d,`, clusterSegments)) {
		t.Errorf("exporting: exit status %d, %s", r.status, r.errors)
	}
	if r := runWith(t.Context(), env, "", "copy", "--to-prefix", "copied", "--columns", "created"); r.out != fmt.Sprintln(clusterSegments) {
		t.Errorf("copying: %+v", r)
	}
	var moving sync.WaitGroup
	done := make(chan struct{})
	moving.Go(func() {
		defer close(done)
		for _, key := range segments[:60] {
			move := top.toNext(t, int(client.ClusterKeySlot(t.Context(), key).Val()))
			for move.MoveKeys(t, 100) {
			}
			move.Finish(t)
		}
	})
	lists := 0
	for running := true; running; lists++ {
		select {
		case <-done:
			running = false
		default:
		}
		top.checkListed(t, runWith(t.Context(), env, "", "warm", "segments"))
	}
	moving.Wait()
	t.Logf("listed %d times", lists)
}

// listThroughMove lists blobs, all of which go from one master to the next one
// meanwhile.
func (top *topologies) listThroughMove(t *testing.T) {
	const blobs = 2000
	client := top.client(t)
	store, err := blob.New(client, "blobs")
	noError(t, err)
	for i := range blobs {
		noError(t, client.Set(t.Context(), store.Key(strconv.Itoa(i)), "x", time.Hour).Err())
	}
	slot := int(client.ClusterKeySlot(t.Context(), store.Key("")).Val())
	for range len(top.cluster.Masters) {
		status, lines := through(t, top.env("cluster", "blobs"), blobs/4, func() {
			move := top.toNext(t, slot)
			for move.MoveKeys(t, 1000) {
			}
			move.Finish(t)
		}, "blob", "list", "--columns", "reference")
		if status != 0 || len(lines) != blobs || len(slices.Compact(slices.Sorted(slices.Values(lines)))) != blobs {
			t.Errorf("%d blobs were listed, exit status %d, want %d and 0", len(lines), status, blobs)
		}
	}
}

// createSegments creates segments with a chunk each, and returns the keys of
// their indexes.
func (top *topologies) createSegments(t *testing.T) []string {
	t.Helper()
	client := top.client(t)
	store, err := warm.New(client, "segments")
	noError(t, err)
	var keys []string
	at := map[int]int{}
	for i := range clusterSegments {
		segment := warm.Segment{Name: fmt.Sprintf("s%03d", i)}
		_, err := store.Create(t.Context(), segment, 1, nil)
		noError(t, err)
		keys = append(keys, store.IndexKey(segment))
		at[top.cluster.Master(int(client.ClusterKeySlot(t.Context(), keys[i]).Val()))]++
	}
	if len(at) != len(top.cluster.Masters) {
		t.Errorf("the segments are at %v", at)
	}
	return keys
}

// checkListed holds that all segments were listed, each once, or that the
// listing ended honestly.
func (top *topologies) checkListed(t *testing.T, r ran) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	unique := len(slices.Compact(slices.Sorted(slices.Values(lines))))
	switch {
	case r.status == 0 && (len(lines) != clusterSegments || unique != clusterSegments):
		t.Errorf("%d lines, %d of them different, and exit status 0; want %d", len(lines), unique, clusterSegments)
	case r.status != 0 && r.status != 8 && r.status != 10:
		t.Errorf("exit status %d: %s", r.status, r.errors)
	}
}

func (top *topologies) scanThroughKill(t *testing.T) {
	const rows = 5000
	client := top.client(t)
	writeRows(t, client, "kill", rows)
	slot := opaqueSlot(t, client)
	victim := top.cluster.Master(slot)
	direct := top.cluster.Masters[victim].Client(t)
	keys, err := opaque.NewKeys("kill")
	noError(t, err)
	replicated(t, direct, keys.Row("")+"replicated")
	status, scanned := scanThrough(t, top.env("cluster", "kill"), rows/5, func() {
		replicated(t, direct, keys.Row("")+"replicated") // the snapshot, too
		top.cluster.KillMaster(t, victim)
	})
	checkScanned(t, status, scanned, rows)
	if status != 0 {
		t.Errorf("exit status %d, want 0: the replica has everything", status)
	}
	if r := runWith(t.Context(), top.env("cluster", "kill"), "", "scan", "--count"); r.status != 0 || strings.Fields(r.out)[0] != fmt.Sprint(rows) {
		t.Errorf("behind the failover: %+v, want %d rows", r, rows)
	}
	top.checkListed(t, runWith(t.Context(), top.env("cluster", "segments"), "", "warm", "segments"))
}
