// The command line as its users meet it: every script in testdata/script, each
// on an embedded and on a real server of its own.

package main_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/keyspacectl/keyspacectl/cmd"
	"github.com/keyspacectl/keyspacectl/internal/keyformat"
	"github.com/keyspacectl/keyspacectl/internal/testserver"
)

// raceExit spares each process of a program built with -race a second at its
// end: GORACE.
const raceExit = "atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	if err := os.Setenv("GORACE", raceExit); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"keyspacectl": func() { os.Exit(cmd.Main()) },
	})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		for _, script := range scripts {
			t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
				t.Parallel()
				runScript(t, script, s.Real)
			})
		}
	})
}

// runScript runs one script on a server of its own.
func runScript(t *testing.T, script string, real bool) {
	start := testserver.Embedded
	if real {
		start = func(t testing.TB) testserver.Server { return testserver.Real(t) }
	}
	server := start(t)
	client := server.Client(t)
	testscript.Run(t, testscript.Params{
		Files:               []string{script},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("KEYSPACECTL_URL", server.URL)
			env.Setenv("KEYSPACECTL_PREFIX", "app")
			env.Setenv("KEYSPACECTL_TIMEOUT", "1m") // the machine may be busy
			env.Setenv("D", "app:{zlink-location-v3}:opaque")
			env.Setenv("B", "app:{zlink-relocation-v1}:blob")
			env.Setenv("UUID", "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
			env.Setenv("XDG_CONFIG_HOME", env.Getenv("WORK"))
			env.Setenv("LC_ALL", "C.UTF-8")
			env.Setenv("GORACE", raceExit)
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "redis":
				return real, nil
			case "embedded":
				return !real, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"bytes": writeBytes,
			"noise": writeNoise,
			"redis": func(ts *testscript.TestScript, neg bool, args []string) { runRedis(ts, client, neg, args) },
		},
	})
}

// exits STATUS PROGRAM ARGS... runs a program that must end with that status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits status program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("running %s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// bytes FILE TEXT writes a file of exactly the bytes of TEXT, which takes the
// escapes of --key-format escaped.
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: bytes file text")
	}
	text, err := keyformat.Parse(keyformat.Escaped, args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// noise FILE SIZE writes a file of so many bytes that look random.
func writeNoise(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: noise file size")
	}
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	noise := make([]byte, size)
	_, err = rand.NewChaCha8([32]byte{}).Read(noise)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), noise, 0o600))
}

// redis COMMAND ARGS... runs a raw command on the script's server. Arguments
// take the escapes of --key-format escaped; the reply goes to stdout, one
// value a line.
func runRedis(ts *testscript.TestScript, client *redis.Client, neg bool, args []string) {
	raw := make([]any, len(args))
	for i, arg := range args {
		text, err := keyformat.Parse(keyformat.Escaped, arg)
		ts.Check(err)
		raw[i] = text
	}
	reply, err := client.Do(context.Background(), raw...).Result()
	if errors.Is(err, redis.Nil) {
		reply, err = "(nil)", nil
	}
	if (err != nil) != neg {
		ts.Fatalf("redis %v: %v, %v", args, reply, err)
	}
	fmt.Fprint(ts.Stdout(), printed(reply))
}

func printed(reply any) string {
	switch reply := reply.(type) {
	case []any:
		var b strings.Builder
		for _, item := range reply {
			b.WriteString(printed(item))
		}
		return b.String()
	case map[any]any:
		var lines []string
		for key, value := range reply {
			lines = append(lines, printed(key)+printed(value))
		}
		sort.Strings(lines)
		return strings.Join(lines, "")
	}
	return keyformat.Escape(fmt.Sprint(reply)) + "\n"
}
