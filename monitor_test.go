// The server's own view of the commands: MONITOR, while all of them run.

package main_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/verify"
)

// TestKeysAreDeclared holds that no script touches a key that is not in the
// KEYS of its call. Every script runs at least once.
//
// It stands in a directory of its own, so it runs alone.
func TestKeysAreDeclared(t *testing.T) {
	server := testserver.Real(t)
	client := server.Client(t)
	monitor := startMonitor(t, server)
	runAll(t, server)
	runRepairs(t, server)
	runMigrations(t, server)
	runRare(t, client)
	if err := client.Echo(t.Context(), lastLine).Err(); err != nil {
		t.Fatal(err)
	}

	unseen := map[string]string{}
	for _, script := range luascripts.All() {
		unseen[script.SHA1] = script.Name
	}
	var call monitored // the last one of a script
	for _, line := range monitor.lines(t) {
		switch {
		case strings.HasPrefix(line.args[0], "EVAL"):
			call = line
			delete(unseen, call.sha1())
		case strings.EqualFold(line.args[0], "KEYS"):
			t.Errorf("the server was asked for %q", line.args)
		case line.lua:
			for _, key := range keysOf(t, client, line.args) {
				if !slices.Contains(call.keys(t), key) {
					t.Errorf("%q in a script that was given the keys %q", line.args, call.keys(t))
				}
			}
		}
	}
	for _, name := range unseen {
		t.Errorf("no command ran %s", name)
	}
}

// runAll runs every command that goes to a server. LAST stands for the last
// word that was printed.
func runAll(t *testing.T, server testserver.Server) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{
		"batch": `{"conditions":[{"kind":"missing","key":"c"}],"mutations":[{"kind":"put","key":"c","value":"1"},{"kind":"delete","key":"b"}]}`,
		"bytes": "bytes",
		"other": "other",
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	last := ""
	for _, line := range []string{
		"put a 1", "put b 1 --retention 1h", "put a 2 --if-version 1", "read a b none",
		"scan", "scan --live", "scan --count", "scan --page --page-size 1", "scan --page --cursor LAST",
		"scan --page --page-size 1", "put a 3", "history a", "txn batch", "txn batch",
		"snapshot gc --dry-run", "snapshot gc", "snapshot list --columns id", "snapshot drop LAST",
		"delete a", "delete --under b --dry-run", "delete --under c --yes",
		"blob put r --file bytes --retention 1h", "blob put r --file bytes --retention 1h", "blob put r --file other --retention 1h",
		"blob read r", "blob stat r", "blob list", "blob renew r --retention 2h", "blob delete r",
		"warm cas s 1 one --create --columns token", "warm cas s 1 two --columns token --expect LAST",
		"warm list s", "warm list s --payload", "warm read s 1", "warm segments",
		"warm list s --columns token", "warm delete s 1 --expect LAST",
		"inspect app:{zlink-location-v3}:opaque:index", "inspect --logical a",
		"put a 4", "scan --page --page-size 1", "put a 5", "snapshot list --held",
		"prefixes", "stats", "export --history --tombstones",
		"export archive --force", "import archive --prefix imported", "import archive --prefix imported --on-conflict overwrite",
		"warm cas s 1 one --create", "blob put r --file bytes --retention 1h",
		"copy --to-prefix other --verify", "copy --to-prefix other", "put a 6",
		"copy --to-prefix other --on-conflict overwrite", "diff --right-prefix other",
		"scripts load", "doctor",
	} {
		args := strings.Fields("--prefix app " + strings.Replace(line, "LAST", last, 1))
		out, errs, status := execute(t, server, args...)
		if status == 1 || status == 2 {
			t.Errorf("%q: exit status %d, %s", args, status, errs)
		}
		if words := strings.Fields(out + errs); len(words) > 0 {
			last = words[len(words)-1]
		}
	}
}

// runRepairs runs verify on stores with damage for every script that mends.
func runRepairs(t *testing.T, server testserver.Server) {
	t.Helper()
	client := server.Client(t)
	keys, err := opaque.NewKeys("app")
	if err != nil {
		t.Fatal(err)
	}
	execute(t, server, "--prefix", "app", "put", "row", "value")
	for _, command := range [][]any{
		{"ZADD", keys.Row("row"), 1, "no member"},
		{"ZADD", keys.Cleanup(), 1, "orphan"},
		{"PEXPIRE", keys.Map(), 1_000_000},
		{"DEL", keys.Sequence()},
		{"DEL", keys.SnapshotExpiry()},
		{"SET", keys.SnapshotExpiry(), "no zset"},
		{"HSET", keys.Scan("id"), "boundary", 1},
		{"HSET", "{app|_default|broken}c:1", "t", "token"},
		{"ZADD", "{app|_default|broken}idx", 1, "1", 2, "2"},
		{"SET", "{app|_default|other}idx", "no zset"},
		{"HSET", "{app|_default|other}c:1", "t", "token", "b", ""},
	} {
		if err := client.Do(t.Context(), command...).Err(); err != nil {
			t.Fatalf("%v: %v", command, err)
		}
	}
	args := []string{"--prefix", "app", "verify", "--repair", "--yes"}
	for _, code := range verify.Destroying() {
		args = append(args, "--destroy", string(code))
	}
	if _, errs, status := execute(t, server, args...); status != 0 {
		t.Errorf("%q: exit status %d, %s", args, status, errs)
	}
}

// runMigrations migrates something of every older layout that has scripts of its
// own.
func runMigrations(t *testing.T, server testserver.Server) {
	t.Helper()
	client := server.Client(t)
	const v1 = "old:{zlink-location-opaque-v1}:"
	for _, prefix := range []string{"old", "older"} {
		keys, err := opaque.NewKeys(prefix)
		noError(t, err)
		noError(t, client.ZAdd(t.Context(), keys.Row("a"), redis.Z{Score: 1, Member: "\x95\xa1a\xa1!\xa11\xff\x00"}).Err())
		noError(t, client.Set(t.Context(), keys.Sequence(), 1, 0).Err())
		noError(t, client.ZAdd(t.Context(), keys.Index(), redis.Z{Member: "a"}).Err())
		noError(t, client.HSet(t.Context(), keys.Map(), "a", keys.Row("a")).Err())
	}
	for _, command := range [][]any{
		{"HSET", v1 + "record:3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d", "key", "b", "bytes", "AP8=", "version", 1, "expiresAtMs", 0},
		{"HSET", v1 + "index", "b", `["AP8=","1",0]`, "gone", `["AP8=","1",1]`},
		{"SET", v1 + "version", 1},
		{"RPUSH", v1 + "scan:a", "b"},
		{"HSET", "old:opaque:63", "bytes", "c", "version", 1},
		{"SET", "old:payload:d", "d", "EX", 1000},
	} {
		if err := client.Do(t.Context(), command...).Err(); err != nil {
			t.Fatalf("%v: %v", command, err)
		}
	}
	for _, line := range []string{
		"old migrate", "old migrate --layout v3-untagged --in-place --apply --yes", "old migrate --apply",
		"old migrate --retire --yes", "old migrate --layout v3-untagged --in-place --retire --yes",
		"older migrate --apply --to-prefix new", "older migrate --retire --yes --to-prefix new",
	} {
		if _, errs, status := execute(t, server, strings.Fields("--prefix "+line)...); status != 0 {
			t.Errorf("%q: exit status %d, %s", line, status, errs)
		}
	}
	for _, pattern := range []string{v1 + "*", "old:opaque:*", "old:payload:*", "old:*quarantine*", "older:*"} {
		if left, _, err := client.Scan(t.Context(), 0, pattern, 10_000).Result(); err != nil || len(left) > 0 {
			t.Errorf("left are %q, %v", left, err)
		}
	}
}

// runRare runs what commands run only when a scan takes half a minute, or a
// server refuses MULTI.
func runRare(t *testing.T, client *redis.Client) {
	t.Helper()
	store, err := opaque.New(client, "app")
	if err != nil {
		t.Fatal(err)
	}
	if err := store.RenewSnapshot(t.Context(), "none"); !errors.Is(err, storeerr.Expired) {
		t.Errorf("renewing: %v", err)
	}
	if err := luascripts.Must("blob_read").Run(t.Context(), client, []string{"none"}).Err(); err != nil {
		t.Error(err)
	}
}

// keysOf returns the keys in a command, as the server sees them.
func keysOf(t *testing.T, client *redis.Client, command []string) []string {
	t.Helper()
	if len(command) == 1 {
		return nil // TIME
	}
	args := []any{"COMMAND", "GETKEYS"}
	for _, arg := range command {
		args = append(args, arg)
	}
	keys, err := client.Do(t.Context(), args...).StringSlice()
	if err != nil && !strings.Contains(err.Error(), "no key arguments") {
		t.Fatalf("%q: %v", command, err)
	}
	return keys
}

// lastLine is what ends a monitor.
const lastLine = "end of the test"

// monitor is a connection on which the server tells what it runs.
type monitor struct {
	conn   net.Conn
	reader *bufio.Reader
}

func startMonitor(t *testing.T, server testserver.Server) *monitor {
	t.Helper()
	conn, err := net.Dial("unix", strings.TrimPrefix(server.URL, "unix://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	m := &monitor{conn, bufio.NewReader(conn)}
	if _, err := fmt.Fprint(conn, "MONITOR\r\n"); err != nil {
		t.Fatal(err)
	}
	if answer, err := m.reader.ReadString('\n'); err != nil || answer != "+OK\r\n" {
		t.Fatalf("MONITOR: %q, %v", answer, err)
	}
	return m
}

// monitored is a command that the server ran.
type monitored struct {
	lua  bool // in a script
	args []string
}

// lines reads what the server told, up to the last line.
func (m *monitor) lines(t *testing.T) []monitored {
	t.Helper()
	var all []monitored
	for {
		text, err := m.reader.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		line := parseMonitored(t, text)
		if slices.Contains(line.args, lastLine) {
			return all
		}
		all = append(all, line)
	}
}

var (
	monitorLine = regexp.MustCompile(`^\+[\d.]+ \[\d+ ([^\]]*)\] (.*)\r\n$`)
	quoted      = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// parseMonitored reads a line such as
// +1700000000.1 [0 lua] "ZADD" "key" "1" "\x00".
func parseMonitored(t *testing.T, text string) monitored {
	t.Helper()
	parts := monitorLine.FindStringSubmatch(text)
	if parts == nil {
		t.Fatalf("the monitor says %q", text)
	}
	line := monitored{lua: parts[1] == "lua"}
	for _, arg := range quoted.FindAllString(parts[2], -1) {
		plain, err := strconv.Unquote(arg)
		if err != nil {
			t.Fatalf("the monitor says %s: %v", arg, err)
		}
		line.args = append(line.args, plain)
	}
	if !line.lua {
		line.args[0] = strings.ToUpper(line.args[0])
	}
	return line
}

// sha1 names the script of an EVAL or EVALSHA.
func (m monitored) sha1() string {
	if strings.HasPrefix(m.args[0], "EVALSHA") {
		return m.args[1]
	}
	for _, script := range luascripts.All() {
		if script.Source == m.args[1] {
			return script.SHA1
		}
	}
	return ""
}

// keys are those of an EVAL or EVALSHA.
func (m monitored) keys(t *testing.T) []string {
	t.Helper()
	count, err := strconv.Atoi(m.args[2])
	if err != nil {
		t.Fatal(err)
	}
	return m.args[3 : 3+count]
}
