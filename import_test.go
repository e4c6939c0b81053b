// Imports that meet what an import meets: they are killed and interrupted,
// answers are lost, scripts and masters go, memory runs out.

package main_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/cmd"
	"github.com/keyspacectl/keyspacectl/internal/faultproxy"
	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/transfer"
)

// exported exports a prefix to a file, and returns its name.
func exported(t *testing.T, s testserver.Server, prefix string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "archive.ndjson")
	if _, errs, status := execute(t, s, "export", name, "--prefix", prefix); status != 0 {
		t.Fatalf("exporting: %d, %s", status, errs)
	}
	return name
}

// A bad line is named, what stands before it is counted, and with the mended
// archive it is as if nothing had happened.
func TestImportStopsAtABadLine(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		store := fill(t, s, 998)
		values := map[string]string{
			"deep":   strings.Repeat("[", 1001) + strings.Repeat("]", 1001),
			"number": `{"ids":[],"n":15947634569000323,"d":1.10}`,
		}
		for key, value := range values {
			_, err := store.Write(t.Context(), opaque.Batch{Mutations: []opaque.Mutation{opaque.Put(key, value, opaque.Never())}})
			noError(t, err)
		}
		archive := exported(t, s, "app")
		whole, err := os.ReadFile(archive)
		noError(t, err)
		lines := strings.SplitAfter(string(whole), "\n")
		lines[500] = strings.Replace(lines[500], `"value"`, `"valeu"`, 1)
		bad := filepath.Join(t.TempDir(), "bad.ndjson")
		noError(t, os.WriteFile(bad, []byte(strings.Join(lines, "")), 0o600))

		env := map[string]string{"KEYSPACECTL_URL": s.URL, "KEYSPACECTL_PREFIX": "to", "KEYSPACECTL_TIMEOUT": "1m"}
		if r := runWith(t.Context(), env, "", "import", bad); r.status != 10 || !strings.Contains(r.errors, "nothing was written: line 501: ") {
			t.Errorf("from a file: %+v", r)
		}
		if r := runWith(t.Context(), env, "", "scan", "--count"); r.out != "0\n" {
			t.Errorf("behind that there are %+v rows", r)
		}
		if r := runWith(t.Context(), env, strings.Join(lines, ""), "import", "-"); r.status != 10 || !strings.Contains(r.errors, "stopped before line 501 (499 created, ") {
			t.Errorf("from a pipe: %+v", r)
		}
		if r := runWith(t.Context(), env, "", "import", archive, "--on-conflict", "skip"); r.status != 0 || r.out != "501\t0\t499\t0\t0\t0\n" {
			t.Errorf("mended: %+v", r)
		}
		equalSides(t, s, "--left-prefix", "app", "--right-prefix", "to")
		for key, value := range values {
			if r := runWith(t.Context(), env, "", "read", key); r.status != 0 || r.out != value {
				t.Errorf("%s is %q", key, r.out)
			}
		}
	})
}

// TestImportKilled kills imports when so many bytes have reached the server,
// and imports again.
func TestImportKilled(t *testing.T) {
	t.Parallel()
	from, to := testserver.Real(t), testserver.Real(t)
	const rows, chunks = 1000, 30
	fillStores(t, from.Client(t), "app", rows, 12, chunks)
	archive := exported(t, from, "app")
	noError(t, luascripts.Load(t.Context(), to.Client(t))) // each run sends them by name
	importing := func(proxy *faultproxy.Proxy, prefix string, policy transfer.Policy) *process {
		return start(t, "redis://"+proxy.Addr(), "import", archive, "--prefix", prefix, "--on-conflict", string(policy), "--timeout", "1m")
	}

	sent := map[transfer.Policy]int64{}
	for _, policy := range transfer.Policies() {
		proxy := startProxy(t, to)
		importing(proxy, "whole-"+string(policy), policy).ends(0)
		noError(t, proxy.Close())
		sent[policy] = proxy.CarriedTogether(faultproxy.Request)
		equalSides(t, to, "--left-url", from.URL, "--left-prefix", "app", "--right-prefix", "whole-"+string(policy))
	}
	midway := 0
	for i := range int64(kills) {
		policy := transfer.Policies()[i%3]
		prefix := fmt.Sprint("killed-", i)
		keepVersions(t, to, prefix)
		// Not all runs send the same: the last bytes may not come.
		at := 1 + (i*sent[policy]+rand.Int64N(sent[policy]))*19/20/kills
		proxy := startProxy(t, to, faultproxy.Fault{Connection: faultproxy.Together, Stream: faultproxy.Request, At: at, Action: faultproxy.Blackhole})
		killAt(t, importing(proxy, prefix, policy), proxy, at)

		before := versions(t, to, prefix)
		if len(before) > 0 && len(before) < rows-1+chunks {
			midway++
		}
		start(t, to.URL, "import", archive, "--prefix", prefix, "--on-conflict", string(policy)).ends(0)
		after := versions(t, to, prefix)
		for key, version := range before {
			if after[key] != version {
				t.Errorf("%s had the version %s and was written again, as %s", key, version, after[key])
			}
		}
		equalSides(t, to, "--left-prefix", "whole-fail", "--right-prefix", prefix)
		if t.Failed() {
			t.Fatalf("--on-conflict %s, killed behind %d of %d bytes, with %d rows and chunks there", policy, at, sent[policy], len(before))
		}
	}
	if midway == 0 {
		t.Errorf("none of %d imports was killed midway", kills)
	}
	t.Logf("%d of %d imports were killed between the first and the last write of rows and chunks", midway, kills)
}

func TestSignalEndsImport(t *testing.T) {
	t.Parallel()
	from, to := testserver.Real(t), testserver.Real(t)
	fillStores(t, from.Client(t), "app", 1000, 12, 30)
	archive := exported(t, from, "app")
	keepVersions(t, to, "there")

	const at = 300_000 // of more than a megabyte
	proxy := startProxy(t, to, faultproxy.Fault{Connection: faultproxy.Together, Stream: faultproxy.Request, At: at, Action: faultproxy.Blackhole})
	p := start(t, "redis://"+proxy.Addr(), "import", archive, "--prefix", "there", "--on-conflict", "skip", "--timeout", "1m")
	if !awaitCarried(p, proxy, at) {
		t.Fatalf("the import ended by itself: %s", p.stderr.String())
	}
	p.signal(os.Interrupt)
	p.ends(130)
	noError(t, proxy.Close())
	said := p.stderr.String()
	if !strings.Contains(said, "the same command") || strings.ContainsAny(said, "\r\x1b") {
		t.Errorf("it said %q", said)
	}
	before := versions(t, to, "there")
	start(t, to.URL, "import", archive, "--prefix", "there", "--on-conflict", "skip").ends(0)
	for key, version := range versions(t, to, "there") {
		if was, there := before[key]; there && was != version {
			t.Errorf("%s had the version %s and was written again, as %s", key, was, version)
		}
	}
	equalSides(t, to, "--left-url", from.URL, "--left-prefix", "app", "--right-prefix", "there")
}

// A lost answer is no reason to write a record twice, or to count it wrong.
func TestImportOnAFailingNetwork(t *testing.T) {
	t.Parallel()
	from, to := testserver.Real(t), testserver.Real(t)
	fillStores(t, from.Client(t), "app", 60, 4, 6)
	archive := exported(t, from, "app")
	rdb := to.Client(t)
	const whole, blobs = 69, 4
	args := []string{"import", archive, "--on-conflict", "skip"}
	try := func(script faultScript) [2]int64 {
		s := openStores(t, rdb, to.Prefix(t))
		keepVersions(t, to, s.prefix)
		r, carried := s.behind(t, to, script, "", args)
		before := versions(t, to, s.prefix)
		var created, replaced, unchanged int
		if _, err := fmt.Sscan(r.out, &created, &replaced, &unchanged); r.status == 0 && err != nil {
			t.Errorf("%v: %+v: %v", script, r, err)
		}
		switch {
		// Nothing tells who stored a blob that is there behind a lost answer.
		case r.status == 0 && (created+unchanged != whole || unchanged > blobs), r.status != 0 && r.status != 8 && r.status != 9 && r.status != 10:
			t.Errorf("%v: %+v", script, r)
		case r.status == 8 && len(before) > 0:
			t.Errorf("%v: %+v, and %d rows and chunks are there", script, r, len(before))
		}
		if _, errs, status := execute(t, to, append(args, "--prefix", s.prefix)...); status != 0 {
			t.Errorf("%v, run again: %d, %s", script, status, errs)
		}
		for key, version := range versions(t, to, s.prefix) {
			if was, there := before[key]; there && was != version {
				t.Errorf("%v: %s was written again", script, key)
			}
		}
		equalSides(t, to, "--left-url", from.URL, "--left-prefix", "app", "--right-prefix", s.prefix)
		return carried
	}
	many := 16
	if testing.Short() {
		many = 8
	}
	eachFault(faultScripts(try(faultless), many), func(script faultScript) { try(script) })
}

// Scripts that are flushed over and over come back, also for a user who may
// not load them, and none runs twice for the same batch.
func TestImportBesideScriptFlush(t *testing.T) {
	t.Parallel()
	const rows, batch = 10_000, 500
	s := testserver.Real(t, testserver.Users("limited on >secret ~app:* ~{app|* &* +@all -keys -flushall -flushdb -script|load")...)
	client := s.Client(t)
	writeRows(t, client, "from", rows)
	archive := exported(t, s, "from")

	password := filepath.Join(t.TempDir(), "password")
	noError(t, os.WriteFile(password, []byte("secret"), 0o600))

	ctx, over := context.WithCancel(t.Context())
	var flushing sync.WaitGroup
	flushing.Go(func() {
		for ctx.Err() == nil {
			noError(t, client.ScriptFlush(t.Context()).Err())
		}
	})
	start(t, s.URL, "import", archive, "--username", "limited", "--password-file", password, "--timeout", "1m").ends(0)
	over()
	flushing.Wait()
	equalSides(t, s, "--left-prefix", "from", "--right-prefix", "app")
	keys, err := opaque.NewKeys("app")
	noError(t, err)
	if n, err := client.Get(t.Context(), keys.Sequence()).Int(); err != nil || n != rows/batch {
		t.Errorf("%d batches of %d rows were written in %d: %v", rows/batch, batch, n, err)
	}
}

// Out of memory, an import stops between two batches; with more of it the same
// command goes on.
func TestImportOutOfMemory(t *testing.T) {
	t.Parallel()
	from, to := testserver.Real(t), testserver.Real(t)
	store, err := opaque.New(from.Client(t), "app")
	noError(t, err)
	for i := range 20 {
		var b opaque.Batch
		for j := range 10 {
			b.Mutations = append(b.Mutations, opaque.Put(fmt.Sprintf("key/%d/%d", i, j), strings.Repeat(strconv.Itoa(i), 50_000), opaque.Never()))
		}
		_, err := store.Write(t.Context(), b)
		noError(t, err)
	}
	archive := exported(t, from, "app")
	client := to.Client(t)
	noError(t, client.ConfigSet(t.Context(), "maxmemory", "8mb").Err())

	args := []string{"import", archive, "--prefix", "app"}
	out, errs, status := execute(t, to, args...)
	if status != 10 || out != "" || !strings.Contains(errs, "memory") || !strings.Contains(errs, "the same command goes on") {
		t.Errorf("without memory: %d, %s%s", status, out, errs)
	}
	if out, errs, status := execute(t, to, "verify", "--prefix", "app"); status != 0 {
		t.Errorf("verify finds %s%s", out, errs)
	}
	if _, errs, status := execute(t, to, "read", "key/0/0", "--prefix", "app"); status != 0 {
		t.Errorf("reading: %d, %s", status, errs)
	}
	noError(t, client.ConfigSet(t.Context(), "maxmemory", "0").Err())
	if _, errs, status := execute(t, to, args...); status != 0 {
		t.Errorf("with memory: %d, %s", status, errs)
	}
	equalSides(t, to, "--left-url", from.URL, "--left-prefix", "app", "--right-prefix", "app")
}

// A server that takes no request so large says what its limit is called.
func TestImportAboveTheServersLimit(t *testing.T) {
	t.Parallel()
	from, to := testserver.Real(t), testserver.Real(t)
	store, err := blob.New(from.Client(t), "app")
	noError(t, err)
	_, err = store.Put(t.Context(), "large", bytes.Repeat([]byte{0xff}, 2<<20), 3_600_000)
	noError(t, err)
	archive := exported(t, from, "app")
	noError(t, to.Client(t).ConfigSet(t.Context(), "proto-max-bulk-len", "1mb").Err())
	_, errs, status := execute(t, to, "import", archive, "--prefix", "app", "--on-conflict", "skip")
	if status == 0 || !strings.Contains(errs, "proto-max-bulk-len") {
		t.Errorf("status %d, %s", status, errs)
	}
	if n := to.Client(t).DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

// importThroughFailover lets the replica take over in the middle of an import,
// which counts what is there and does not vouch for it.
func (top *topologies) importThroughFailover(t *testing.T) {
	const rows = 20_000
	writeRows(t, top.standalone.Client(t), "failover", rows)
	archive := exported(t, top.standalone, "failover")
	keys, err := opaque.NewKeys("imported")
	noError(t, err)

	content, err := os.ReadFile(archive)
	noError(t, err)
	proceed := make(chan struct{})
	half := &gate{content: content, reached: make(chan struct{}), open: proceed}
	env := top.env("sentinel", "imported")
	var errs, out bytes.Buffer
	f := &cmd.Factory{In: half, Out: &out, Err: &errs, Getenv: func(name string) string { return env[name] }}
	ended := make(chan int)
	go func() { ended <- f.Run(t.Context(), []string{"import", "-"}) }()
	<-half.reached
	replicated(t, top.master(t), "any")
	top.sentinel.Failover(t)
	close(proceed)
	status := <-ended

	there, err := top.master(t).ZCard(t.Context(), keys.Index()).Result()
	noError(t, err)
	if status != 10 || there < rows/4 || !strings.Contains(errs.String(), fmt.Sprintf("(%d created, ", there)) {
		t.Errorf("status %d, and %d of %d rows are there: %s", status, there, rows, &errs)
	}
	r := runWith(t.Context(), env, string(content), "import", "-", "--verify")
	if r.status != 0 {
		t.Errorf("run again: %+v", r)
	}
	top.holdsRows(t, keys, rows)
}

// holdsRows holds that there are so many rows, each with one version.
func (top *topologies) holdsRows(t *testing.T, keys opaque.Keys, rows int) {
	t.Helper()
	master := top.master(t)
	found, err := master.HVals(t.Context(), keys.Map()).Result()
	noError(t, err)
	if len(found) != rows {
		t.Errorf("%d of %d rows are there", len(found), rows)
	}
	cmds, err := master.Pipelined(t.Context(), func(p redis.Pipeliner) error {
		for _, row := range found {
			p.ZCard(t.Context(), row)
		}
		return nil
	})
	noError(t, err)
	for i, c := range cmds {
		if n := c.(*redis.IntCmd).Val(); n != 1 {
			t.Fatalf("%s has %d versions", found[i], n)
		}
	}
}

// gate is an input that comes up to its half, and then waits.
type gate struct {
	content []byte
	read    int
	reached chan struct{}
	open    <-chan struct{}
	waited  bool
}

func (g *gate) Read(b []byte) (int, error) {
	half := len(g.content) / 2
	if g.read >= half && !g.waited {
		g.waited = true
		close(g.reached)
		<-g.open
	}
	end := len(g.content)
	if g.read < half {
		end = half
	}
	n := copy(b, g.content[g.read:end])
	g.read += n
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
