// Tests against servers of every shape.
package doctor_test

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/redisconn"
	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/doctor"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// run runs all checks.
func run(t *testing.T, c redis.UniversalClient, o doctor.Options) []doctor.Result {
	t.Helper()
	results, err := doctor.Run(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// checkResults asserts what is not ok: "check status: found", and the node in
// brackets. All checks of rights that were skipped are one, acl-*.
func checkResults(t *testing.T, results []doctor.Result, want ...string) {
	t.Helper()
	var got []string
	for _, r := range results {
		if r.Check == "latency" || r.Status == doctor.OK {
			continue // how fast this machine is says nothing
		}
		line := r.Check + " " + string(r.Status) + ": " + r.Found
		if strings.HasPrefix(line, "acl-") && r.Status == doctor.Skipped {
			line = "acl-* skipped: " + r.Found
			if slices.Contains(got, line) {
				continue
			}
		}
		if r.Node != "" {
			line += " [" + r.Node + "]"
		}
		got = append(got, line)
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const noCluster = "cluster skipped: no cluster"

func TestWellConfigured(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t, "--appendonly", "yes")
	results := run(t, s.Client(t), doctor.Options{Prefix: "app"})
	checkResults(t, results, noCluster)
	seen := map[string]bool{}
	for _, r := range results {
		if seen[r.Check] || r.Node != "" || r.Found == "" {
			t.Errorf("%+v", r)
		}
		seen[r.Check] = true
	}
	if len(results) != 15+len(doctor.Groups()) {
		t.Errorf("%d results", len(results))
	}
}

func TestEmbedded(t *testing.T) {
	t.Parallel()
	checkResults(t, run(t, testserver.Embedded(t).Client(t), doctor.Options{}),
		"protocol skipped: the server does not know HELLO",
		noCluster,
		"persistence skipped: the embedded server keeps its data file by itself",
		"saving skipped: the embedded server keeps its data file by itself",
		"bulk-length skipped: the server does not know CONFIG GET",
		"busy-threshold skipped: the server does not know CONFIG GET",
		"acl-* skipped: the server does not know ACL WHOAMI")
}

func TestMisconfigured(t *testing.T) {
	t.Parallel()
	c := testserver.Real(t, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru",
		"--proto-max-bulk-len", "1mb", "--busy-reply-threshold", "100").Client(t)
	ahead := doctor.Options{Clock: func() time.Time { return time.Now().Add(-time.Hour) }}
	checkResults(t, run(t, c, ahead),
		noCluster,
		"persistence failed: AOF off",
		"eviction failed: allkeys-lru",
		"bulk-length failed: 1048576 bytes",
		"busy-threshold warning: 100 ms",
		"clock warning: 3600.0 s from this machine's")
	checkResults(t, run(t, c, doctor.Options{Stores: []doctor.Store{doctor.Opaque}}),
		noCluster,
		"eviction failed: allkeys-lru",
		"busy-threshold warning: 100 ms")
}

func TestReplica(t *testing.T) {
	t.Parallel()
	r := testserver.StartReplicated(t)
	noAOF := "persistence failed: AOF off"
	checkResults(t, run(t, r.Master.Client(t), doctor.Options{}), noCluster, noAOF)
	_, port, _ := strings.Cut(r.Master.Addr(), ":")
	role := ": replica of 127.0.0.1 port " + port + ", link up"
	isReplica := "replicas skipped: the server is a replica itself"
	checkResults(t, run(t, r.Replica.Client(t), doctor.Options{}), "role failed"+role, noCluster, isReplica, noAOF)
	results := run(t, r.Replica.Client(t), doctor.Options{ReadOnly: true, Stores: []doctor.Store{doctor.Blob}})
	checkResults(t, results, "role warning"+role, noCluster, isReplica,
		"acl-* skipped: nothing is to be written")
}

func TestCluster(t *testing.T) {
	t.Parallel()
	cluster := testserver.StartCluster(t, "--appendonly", "yes")
	c := clusterClient(t, cluster, time.Minute)
	checkResults(t, run(t, c, doctor.Options{Prefix: "app"}))

	odd := cluster.Masters[1]
	if err := odd.Client(t).ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err(); err != nil {
		t.Fatal(err)
	}
	results := run(t, c, doctor.Options{Prefix: "app"})
	checkResults(t, results, "eviction warning: allkeys-lru, without a maxmemory ["+odd.Addr()+"]")
	nodes := map[string][]string{}
	for _, r := range results {
		nodes[r.Check] = append(nodes[r.Check], r.Node)
	}
	if want := slices.Sorted(slices.Values(cluster.Addrs())); !slices.Equal(nodes["eviction"], want) {
		t.Errorf("eviction is told of %v, want %v", nodes["eviction"], want)
	}
	if !slices.Equal(nodes["memory"], []string{""}) {
		t.Errorf("memory is told of %v", nodes["memory"])
	}

	odd.Kill()
	// The dead one is tried for as long as the timeout is.
	results = run(t, clusterClient(t, cluster, 5*time.Second), doctor.Options{Prefix: "app"})
	at := slices.IndexFunc(results, func(r doctor.Result) bool { return r.Check == "connection" })
	if at < 0 || results[at].Status != doctor.Failed || results[at].Node != odd.Addr() {
		t.Errorf("after a primary was killed: %+v", results)
	}
}

func clusterClient(t *testing.T, cluster *testserver.Cluster, timeout time.Duration) redis.UniversalClient {
	t.Helper()
	target, err := redisconn.ParseAddr(cluster.Masters[0].Addr())
	if err != nil {
		t.Fatal(err)
	}
	target.Cluster = true
	c, err := redisconn.Open(redisconn.Options{Target: target, Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// A user who may ask for nothing learns what can be told without.
func TestUserWithoutInfo(t *testing.T) {
	t.Parallel()
	c := user(t, testserver.Real(t), "app", "~* +@all -info -config -acl -script -ping -time")
	checkResults(t, run(t, c, doctor.Options{Prefix: "app"}),
		noCluster,
		"replicas skipped: the user may not run INFO",
		"persistence skipped: the user may not run INFO",
		"saving skipped: the user may not run INFO",
		"memory skipped: the user may not run INFO",
		"eviction skipped: the user may not run INFO",
		"bulk-length skipped: the user may not run CONFIG GET",
		"busy-threshold skipped: the user may not run CONFIG GET",
		"script-cache skipped: the user may not run SCRIPT EXISTS",
		"clock skipped: the user may not run TIME",
		"acl-* skipped: the user may not run ACL WHOAMI")
}

func TestRights(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t, "--appendonly", "yes")
	c := user(t, s, "app", "~app:* +@all -zadd -script|load -set")
	results := run(t, c, doctor.Options{Prefix: "app"})
	checkResults(t, results, noCluster,
		"acl-opaque-scans failed: lacks +zadd",
		"acl-opaque-writes failed: lacks +zadd",
		"acl-snapshots failed: lacks +zadd",
		"acl-opaque-repair failed: lacks +set +zadd",
		"acl-blob-writes failed: lacks +set",
		"acl-warm-reads failed: lacks ~{app|*",
		"acl-warm-writes failed: lacks +zadd ~{app|*",
		"acl-warm-verify failed: lacks ~{app|*",
		"acl-warm-repair failed: lacks +zadd ~{app|*",
		"acl-migrate failed: lacks +set +zadd",
		"acl-scripts warning: lacks +script|load")
	admin := s.Client(t)
	for _, r := range results {
		if !strings.HasPrefix(r.Advice, "ACL SETUSER ") {
			continue
		}
		if err := admin.Do(t.Context(), words(r.Advice)...).Err(); err != nil {
			t.Errorf("%s: %v", r.Advice, err)
		}
	}
	checkResults(t, run(t, c, doctor.Options{Prefix: "app"}), noCluster)

	c = user(t, s, "elsewhere", "~other:* +@all -get")
	checkResults(t, run(t, c, doctor.Options{Stores: []doctor.Store{doctor.Blob}}), noCluster,
		"acl-blob-reads failed: lacks +get", "acl-blob-writes failed: lacks +get", "acl-blob-verify failed: lacks +get",
		"acl-inspect failed: lacks +get", "acl-migrate failed: lacks +get", "acl-prefixes failed: lacks +get")
}

// Nothing is written, and no key looked at.
func TestLeavesNoTrace(t *testing.T) {
	t.Parallel()
	c := testserver.Real(t).Client(t)
	run(t, c, doctor.Options{Prefix: "app"})
	stats := c.Info(t.Context(), "commandstats").Val()
	commands := map[string]bool{}
	for _, found := range regexp.MustCompile(`cmdstat_([^:]+):`).FindAllStringSubmatch(stats, -1) {
		commands[found[1]] = true
	}
	want := []string{"acl|dryrun", "acl|whoami", "config|get", "eval", "evalsha", "hello", "info", "ping", "script|exists", "time"}
	got := slices.Collect(maps.Keys(commands))
	got = slices.DeleteFunc(got, func(name string) bool { return strings.HasPrefix(name, "client|") })
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("the server ran %q, want %q", got, want)
	}
	if n := c.DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	closed := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	t.Cleanup(func() { _ = closed.Close() })
	s := testserver.Real(t, "--requirepass", "secret")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx    context.Context
		client redis.UniversalClient
		prefix string
		kind   storeerr.Kind
	}{
		"closed port": {t.Context(), closed, "", storeerr.Unavailable},
		"no password": {t.Context(), s.Client(t), "", storeerr.Denied},
		"bad prefix":  {t.Context(), closed, "a{b", storeerr.Invalid},
		"canceled":    {canceled, s.Client(t), "", storeerr.Failed},
	} {
		results, err := doctor.Run(c.ctx, c.client, doctor.Options{Prefix: c.prefix})
		if storeerr.KindOf(err) != c.kind || results != nil {
			t.Errorf("%s: %v, %v; want %s", name, results, err, c.kind)
		}
	}
}

// user returns a client of a new ACL user with these rules.
func user(t *testing.T, s testserver.Server, name, rules string) *redis.Client {
	t.Helper()
	admin := s.Client(t)
	if err := admin.Do(t.Context(), words("ACL SETUSER "+name+" on >secret "+rules)...).Err(); err != nil {
		t.Fatal(err)
	}
	options := *admin.Options()
	options.Username, options.Password = name, "secret"
	c := redis.NewClient(&options)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func words(line string) []any {
	var all []any
	for word := range strings.FieldsSeq(line) {
		all = append(all, word)
	}
	return all
}
