// Tests of what is made of a server's answers, those of servers that no test
// can start included.
package doctor

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// told are settings as a server tells them.
func told(values ...string) settings {
	s := settings{command: "INFO", values: map[string]string{}}
	for i := 0; i < len(values); i += 2 {
		s.values[values[i]] = values[i+1]
	}
	return s
}

// reply is an error as a server answers it.
type reply string

func (r reply) Error() string { return string(r) }
func (reply) RedisError()     {}

const noperm = reply("NOPERM this user has no permissions to run the 'info' command")

func TestJudge(t *testing.T) {
	t.Parallel()
	info := func(values ...string) facts { return facts{info: told(values...)} }
	config := func(values ...string) facts { return facts{config: told(values...)} }
	cluster := func(values ...string) facts { return facts{cluster: told(values...)} }
	for name, c := range map[string]struct {
		judge  func(*facts, Options) finding
		facts  facts
		status Status
		found  string
	}{
		"redis 6.2":         {judgeServer, info("redis_version", "6.2.0"), OK, "redis 6.2.0"},
		"redis 10":          {judgeServer, info("redis_version", "10.0.1"), OK, "redis 10.0.1"},
		"redis 6.0":         {judgeServer, info("redis_version", "6.0.16"), Failed, "redis 6.0.16"},
		"redis 5":           {judgeServer, info("redis_version", "5.9.9"), Failed, "redis 5.9.9"},
		"odd version":       {judgeServer, info("redis_version", "unstable"), OK, "redis unstable"},
		"valkey":            {judgeServer, info("redis_version", "7.2.4", "valkey_version", "8.1.0"), OK, "valkey 8.1.0"},
		"another":           {judgeServer, info("redis_version", "7.4.0", "dragonfly_version", "df-v1.30"), Warning, "dragonfly df-v1.30"},
		"embedded":          {judgeServer, info("redis_version", "1", "server_name", "embedded"), OK, "embedded"},
		"no INFO":           {judgeServer, facts{info: settings{command: "INFO", err: noperm}}, Skipped, "the user may not run INFO"},
		"HELLO tells":       {judgeServer, facts{info: settings{err: noperm}, hello: told("server", "redis", "version", "6.0.1")}, Failed, "redis 6.0.1"},
		"primary":           {judgeRole, info("role", "master"), OK, "primary"},
		"replica":           {judgeRole, info("role", "slave", "master_host", "h", "master_port", "1", "master_link_status", "up"), Failed, "replica of h port 1, link up"},
		"replica by HELLO":  {judgeRole, facts{info: settings{err: noperm}, hello: told("role", "replica")}, Failed, "replica"},
		"RESP2":             {judgeProtocol, facts{hello: told("proto", "2")}, OK, "RESP2"},
		"no HELLO":          {judgeProtocol, facts{hello: settings{command: "HELLO", err: reply("ERR unknown command 'HELLO'")}}, Skipped, "the server does not know HELLO"},
		"cluster":           {judgeCluster, cluster("cluster_state", "ok", "cluster_slots_ok", "16384", "cluster_slots_pfail", "0"), OK, "state ok, 16384 of 16384 slots served"},
		"cluster down":      {judgeCluster, cluster("cluster_state", "fail", "cluster_slots_ok", "16384", "cluster_slots_pfail", "0"), Failed, "state fail, 16384 of 16384 slots served"},
		"cluster with gaps": {judgeCluster, cluster("cluster_state", "ok", "cluster_slots_ok", "16000", "cluster_slots_pfail", "0"), Failed, "state ok, 16000 of 16384 slots served"},
		"cluster in doubt":  {judgeCluster, cluster("cluster_state", "ok", "cluster_slots_ok", "10923", "cluster_slots_pfail", "5461"), Warning, "state ok, 10923 of 16384 slots served, 5461 in doubt"},
		"no replicas":       {judgeReplicas, info("role", "master", "connected_slaves", "0"), OK, "none"},
		"replicas": {judgeReplicas, info("role", "master", "connected_slaves", "2", "master_repl_offset", "100",
			"slave0", "ip=a,port=1,state=online,offset=90,lag=1", "slave1", "ip=b,port=1,state=online,offset=100,lag=0"), OK, "2, last heard of 1 s ago, at most 10 bytes behind"},
		"lag": {judgeReplicas, info("role", "master", "connected_slaves", "1", "master_repl_offset", "100",
			"slave0", "ip=a,port=1,state=online,offset=40,lag=11"), Warning, "1, last heard of 11 s ago, at most 60 bytes behind"},
		"replica gone": {judgeReplicas, info("role", "master", "connected_slaves", "1", "master_repl_offset", "1",
			"slave0", "ip=a,port=1,state=wait_bgsave,offset=0,lag=0"), Warning, "1, not online: a:1"},
		"replica's replicas": {judgeReplicas, info("role", "slave", "connected_slaves", "0"), Skipped, "the server is a replica itself"},
		"AOF":                {judgePersistence, info("aof_enabled", "1"), OK, "AOF on"},
		"no AOF":             {judgePersistence, info("aof_enabled", "0"), Failed, "AOF off"},
		"saved":              {judgeSaving, info("rdb_last_bgsave_status", "ok", "aof_last_write_status", "ok", "aof_last_bgrewrite_status", "ok"), OK, "no errors"},
		"not saved":          {judgeSaving, info("rdb_last_bgsave_status", "err", "aof_last_write_status", "ok"), Failed, "rdb_last_bgsave_status:err"},
		"AOF error":          {judgeSaving, info("rdb_last_bgsave_status", "ok", "aof_last_write_status", "err"), Failed, "aof_last_write_status:err"},
		"saving untold":      {judgeSaving, info(), Skipped, "INFO does not tell rdb_last_bgsave_status"},
		"no limit":           {judgeMemory, info("maxmemory", "0", "used_memory", "5"), OK, "no maxmemory"},
		"room":               {judgeMemory, info("maxmemory", "1048576", "used_memory", "524288"), OK, "512 KiB of 1.0 MiB used"},
		"little room":        {judgeMemory, info("maxmemory", "1048576", "used_memory", "1000000"), Warning, "977 KiB of 1.0 MiB used"},
		"full":               {judgeMemory, info("maxmemory", "1048576", "used_memory", "1048576"), Failed, "1.0 MiB of 1.0 MiB used"},
		"noeviction":         {judgeEviction, info("maxmemory", "1", "maxmemory_policy", "noeviction"), OK, "noeviction"},
		"eviction":           {judgeEviction, info("maxmemory", "1", "maxmemory_policy", "allkeys-lru"), Failed, "allkeys-lru"},
		"eviction of some":   {judgeEviction, info("maxmemory", "1", "maxmemory_policy", "volatile-ttl"), Failed, "volatile-ttl"},
		"eviction one day":   {judgeEviction, info("maxmemory", "0", "maxmemory_policy", "allkeys-lfu"), Warning, "allkeys-lfu, without a maxmemory"},
		"bulk":               {judgeBulkLength, config(bulkLimit, "67108887"), OK, "67108887 bytes"},
		"short bulk":         {judgeBulkLength, config(bulkLimit, "67108886"), Failed, "67108886 bytes"},
		"no CONFIG":          {judgeBulkLength, facts{config: settings{command: "CONFIG GET", err: noperm}}, Skipped, "the user may not run CONFIG GET"},
		"threshold":          {judgeBusyThreshold, config(busyThreshold, "5000", luaTimeLimit, "1"), OK, "5000 ms"},
		"threshold, 6.2":     {judgeBusyThreshold, config(luaTimeLimit, "100"), Warning, "100 ms"},
		"no threshold":       {judgeBusyThreshold, config(busyThreshold, "0"), OK, "off: clients wait for a script, however long it takes"},
		"scripting":          {judgeScripting, facts{libraries: []string{"EVALSHA", "cjson", "cmsgpack"}}, OK, "EVAL, EVALSHA, cjson, cmsgpack"},
		"no cmsgpack":        {judgeScripting, facts{libraries: []string{"EVALSHA", "cjson"}}, Warning, "EVAL, EVALSHA, cjson, no cmsgpack"},
		"no EVAL":            {judgeScripting, facts{evalErr: reply("ERR unknown command 'eval'")}, Failed, "the server does not know EVAL"},
		"no SCRIPT":          {judgeScriptCache, facts{scriptsErr: noperm}, Skipped, "the user may not run SCRIPT EXISTS"},
		"clock":              {judgeClock, facts{ahead: -900 * time.Millisecond}, OK, "0.9 s from this machine's"},
		"clock ahead":        {judgeClock, facts{ahead: 1100 * time.Millisecond}, Warning, "1.1 s from this machine's"},
		"clock behind":       {judgeClock, facts{ahead: -time.Hour}, Warning, "3600.0 s from this machine's"},
		"clock, far away":    {judgeClock, facts{ahead: 1100 * time.Millisecond, blur: 200 * time.Millisecond}, OK, "1.1 s from this machine's"},
		"no TIME":            {judgeClock, facts{timeErr: reply("ERR no")}, Skipped, "the server answered TIME with: ERR no"},
		"near":               {judgeLatency, facts{trips: []time.Duration{1e6, 2e6, 3e8}}, OK, "min 1.00, median 2.00, max 300.00 ms"},
		"far":                {judgeLatency, facts{trips: []time.Duration{1e8, 2e8, 3e8}}, Warning, "min 100.00, median 200.00, max 300.00 ms"},
	} {
		got := c.judge(&c.facts, Options{})
		if got.status != c.status || got.found != c.found {
			t.Errorf("%s: %s %q, want %s %q", name, got.status, got.found, c.status, c.found)
		}
		if bad := got.status == Failed || got.status == Warning; bad != (got.means != "") || bad != (got.advice != "") {
			t.Errorf("%s is %s, means %q, advice %q", name, got.status, got.means, got.advice)
		}
	}
}

// What all servers of a cluster say alike is said once; one that is not
// reached is always named.
func TestMerge(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	say := func(a, b string) map[string]string { return map[string]string{"a": a, "b": b} }
	for name, c := range map[string]struct {
		nodes []*facts
		said  map[string]string
		want  []Result
	}{
		"alike":  {[]*facts{{node: "a"}, {node: "b"}}, say("x", "x"), []Result{{Check: "c", Found: "x"}}},
		"unlike": {[]*facts{{node: "a"}, {node: "b"}}, say("x", "y"), []Result{{Check: "c", Node: "a", Found: "x"}, {Check: "c", Node: "b", Found: "y"}}},
		"one":    {[]*facts{{}}, map[string]string{"": "x"}, []Result{{Check: "c", Found: "x"}}},
		"one away": {[]*facts{{node: "a", unreachable: gone}, {node: "b"}}, say("", "x"),
			[]Result{{Check: connection, Node: "a", Found: "gone"}, {Check: "c", Found: "x"}}},
	} {
		got := merge(c.nodes, func(f *facts) []Result {
			if f.unreachable != nil {
				return []Result{{Check: connection, Node: f.node, Found: f.unreachable.Error()}}
			}
			return []Result{{Check: "c", Node: f.node, Found: c.said[f.node]}}
		})
		if len(got) != len(c.want) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %+v, want %+v", name, got[i], c.want[i])
			}
		}
	}
}

// docs/doctor.md explains every check.
func TestDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{connection}
	for _, c := range checks() {
		ids = append(ids, c.id)
	}
	for _, g := range Groups() {
		ids = append(ids, "acl-"+g.Name)
	}
	for _, id := range ids {
		if !strings.Contains(string(text), "\n| `"+id+"` | ") {
			t.Errorf("docs/doctor.md does not name %s", id)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	if got := Rules([]string{"GET", "SCRIPT LOAD"}); got != "+get +script|load" {
		t.Errorf("rules %s", got)
	}
	if got := KeyRule(All, `a*[b]`); got != `~a\*\[b\]:* ~{a\*\[b\]|*` {
		t.Errorf("key rules %s", got)
	}
}
