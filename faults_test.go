// A network that fails at any byte: whatever the point, the exit status of a
// write says what is true of the store, and a read gives no wrong value.

package main_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
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
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// faultRuns bounds the runs that are under way at the same time: most of them
// wait.
const faultRuns = 16

// stores are the stores of a prefix, reached past any proxy.
type stores struct {
	rdb    *redis.Client
	prefix string
	opaque *opaque.Store
	blob   *blob.Store
	warm   *warm.Store
}

func openStores(t *testing.T, rdb *redis.Client, prefix string) *stores {
	t.Helper()
	o, err := opaque.New(rdb, prefix)
	noError(t, err)
	b, err := blob.New(rdb, prefix)
	noError(t, err)
	w, err := warm.New(rdb, prefix)
	noError(t, err)
	return &stores{rdb, prefix, o, b, w}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// ran is what a command line did.
type ran struct {
	status      int
	out, errors string
}

// runWith runs a command line in this process, on nothing of its surroundings but
// the environment given.
func runWith(ctx context.Context, env map[string]string, input string, args ...string) ran {
	var out, errors bytes.Buffer
	f := &cmd.Factory{
		In: strings.NewReader(input), Out: &out, Err: &errors,
		Getenv: func(name string) string { return env[name] },
	}
	status := f.Run(ctx, args)
	return ran{status, out.String(), errors.String()}
}

// faultScript says where and how a run's network fails.
type faultScript struct {
	faultproxy.Fault
	timeout string
}

// behind runs a command line through a proxy in front of a server, and returns
// when the server has done all that reached it.
func (s *stores) behind(t *testing.T, server testserver.Server, script faultScript, input string, args []string) (ran, [2]int64) {
	t.Helper()
	release := make(chan struct{})
	script.Release = release
	proxy, err := faultproxy.Start("unix", strings.TrimPrefix(server.URL, "unix://"), script.Fault)
	if err != nil {
		t.Error(err)
		return ran{}, [2]int64{}
	}
	env := map[string]string{
		"KEYSPACECTL_URL": "redis://" + proxy.Addr(), "KEYSPACECTL_PREFIX": s.prefix, "KEYSPACECTL_TIMEOUT": script.timeout,
	}
	result := runWith(t.Context(), env, input, args...)
	close(release)
	noError(t, proxy.Close())
	return result, [2]int64{proxy.Carried(1, faultproxy.Request), proxy.Carried(1, faultproxy.Reply)}
}

// tally counts the exit statuses by what was run.
type tally struct {
	mu     sync.Mutex
	counts map[string]map[int]int
}

func (t *tally) add(what string, status int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts[what] == nil {
		t.counts[what] = map[int]int{}
	}
	t.counts[what][status]++
}

// String is a table of the statuses.
func (t *tally) String() string {
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(t.counts)) {
		fmt.Fprintf(&b, "\n%-24s", what)
		for _, status := range slices.Sorted(maps.Keys(t.counts[what])) {
			fmt.Fprintf(&b, "  status %d: %4d", status, t.counts[what][status])
		}
	}
	return b.String()
}

// briefly is the timeout of a command that waits for it.
const briefly = "300ms"

// faultless is a fault that does not happen.
var faultless = faultScript{faultproxy.Fault{At: 1 << 40}, "1m"}

// faultScripts are the ways in which the network fails for a command that sends and
// gets so many bytes on its first connection: at many points where that takes
// no time, and at a few where the command waits for its timeout.
func faultScripts(carried [2]int64, many int) []faultScript {
	var all []faultScript
	for _, way := range []struct {
		action     faultproxy.Action
		connection int
		points     int
		timeout    string
	}{
		{faultproxy.Cut, 1, many, "1m"},
		{faultproxy.Truncate, 1, many / 2, "1m"},
		{faultproxy.Cut, 0, many / 4, briefly},
		{faultproxy.Delay, 1, many / 4, briefly},
		{faultproxy.Blackhole, 1, many / 4, briefly},
	} {
		for stream, bytes := range carried {
			for _, at := range points(bytes, way.points) {
				all = append(all, faultScript{
					faultproxy.Fault{Connection: way.connection, Stream: faultproxy.Stream(stream), At: at, Action: way.action},
					way.timeout,
				})
			}
		}
	}
	return all
}

// points are so many numbers, two or more, from 0 to last, evenly spread.
func points(last int64, count int) []int64 {
	var all []int64
	for i := range int64(count) {
		all = append(all, i*last/int64(count-1))
	}
	return slices.Compact(all)
}

// eachFault calls do for every script, several at a time.
func eachFault(scripts []faultScript, do func(faultScript)) {
	var all sync.WaitGroup
	free := make(chan struct{}, faultRuns)
	for _, s := range scripts {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			do(s)
		})
	}
	all.Wait()
}

func TestWritesOnAFailingNetwork(t *testing.T) {
	t.Parallel()
	server := testserver.Real(t)
	rdb := server.Client(t)
	noError(t, luascripts.Load(t.Context(), rdb))
	many := 24
	if testing.Short() {
		many = 8
	}
	tally := tally{counts: map[string]map[int]int{}}
	for _, w := range faultyWrites() {
		try := func(script faultScript) (ran, [2]int64) {
			s := openStores(t, rdb, server.Prefix(t))
			state := w.prepare(t, s)
			result, carried := s.behind(t, server, script, w.input, w.args(state))
			w.judge(t, s, state, script, result)
			return result, carried
		}
		whole, carried := try(faultless)
		if whole.status != 0 {
			t.Errorf("%s on a network that works: status %d: %s", w.name, whole.status, whole.errors)
		}
		eachFault(faultScripts(carried, many), func(script faultScript) {
			result, _ := try(script)
			tally.add(w.name+", "+script.Action.String(), result.status)
		})
	}
	t.Logf("exit statuses:%s", &tally)
}

func TestReadsOnAFailingNetwork(t *testing.T) {
	t.Parallel()
	server := testserver.Real(t)
	s := openStores(t, server.Client(t), server.Prefix(t))
	noError(t, luascripts.Load(t.Context(), s.rdb))
	prepareRow(t, s)
	prepareChunk(t, s)
	_, err := s.blob.Put(t.Context(), "b", []byte("blob"), 3600_000)
	noError(t, err)
	many := 12
	if testing.Short() {
		many = 8
	}
	tally := tally{counts: map[string]map[int]int{}}
	for _, args := range [][]string{
		{"read", "k"}, {"scan", "--columns", "key,value"}, {"scan", "--live", "--columns", "key,value"}, {"scan", "--count"},
		{"history", "k", "--columns", "version,value"}, {"blob", "read", "b"}, {"blob", "list", "--columns", "reference"},
		{"warm", "read", "s", "7"}, {"warm", "list", "s", "--columns", "chunk,size"}, {"warm", "segments"},
	} {
		whole, carried := s.behind(t, server, faultless, "", args)
		if whole.status != 0 || whole.out == "" {
			t.Errorf("%v on a network that works: %+v", args, whole)
		}
		eachFault(faultScripts(carried, many), func(script faultScript) {
			result, _ := s.behind(t, server, script, "", args)
			tally.add(strings.Join(args[:min(2, len(args))], " ")+", "+script.Action.String(), result.status)
			right := result.status == 0 && result.out == whole.out
			// A read is tried again for a while only, which a busy machine uses
			// up: unavailable is an honest answer, another value never is.
			if !right && (result.status != 8 || !strings.HasPrefix(whole.out, result.out)) {
				t.Errorf("%v, %v: %+v, want %q", args, script, result, whole.out)
			}
		})
	}
	t.Logf("exit statuses:%s", &tally)
}
