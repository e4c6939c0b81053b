// Servers that hang, that are busy or loading, or that are reached by IPv6.

package main_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
)

// Every command gives up on a server that never answers, whatever it is taken
// for.
func TestHungServer(t *testing.T) {
	t.Parallel()
	address, _ := hungServer(t, 0)
	lines := []string{
		"put k v", "read k", "delete k", "delete --under k --yes", "scan", "scan --live", "history k",
		"snapshot list", "snapshot gc", "snapshot drop id", "blob put r --file go.mod --retention 1h",
		"blob read r", "blob renew r --retention 1h", "blob delete r", "blob list", "blob stat r", "warm list s",
		"warm read s 1", "warm cas s 1 v --create", "warm delete s 1 --expect t", "warm segments", "scripts load",
	}
	for i, line := range lines {
		shape := []string{"", " --cluster", " --sentinel-master=m"}[i%3]
		t.Run(line+shape, func(t *testing.T) {
			t.Parallel()
			p := start(t, address, strings.Fields(line+shape+" --timeout 500ms")...)
			p.ends(8)
			if said := p.stderr.String(); !strings.HasPrefix(said, "error: ") || strings.Count(said, "\nerror") > 0 {
				t.Errorf("it said %q", said)
			}
		})
	}
}

// A server that runs a script is said to be busy, and the script goes on.
func TestBusyServer(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t, "--busy-reply-threshold", "10")
	client := s.Client(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = client.Eval(ctx, "while true do end", nil).Err()
	}()
	t.Cleanup(func() { cancel(); <-done })
	awaitReply(t, client, "BUSY")
	for _, line := range []string{"put k v", "read k", "scan", "blob stat r", "warm segments"} {
		p := start(t, s.URL, strings.Fields(line)...)
		p.ends(8)
		if said := p.stderr.String(); !strings.Contains(said, "the server is busy running a script") {
			t.Errorf("%s: it said %q", line, said)
		}
	}
	awaitReply(t, client, "BUSY")
	if err := client.ScriptKill(t.Context()).Err(); err != nil {
		t.Errorf("ending the script: %v", err)
	}
}

// A server that loads its data is said to, and a read waits for it as long as
// it may.
func TestLoadingServer(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t, "--enable-debug-command", "yes", "--loading-process-events-interval-bytes", "1024")
	fill(t, s, 10_000)
	client := s.Client(t)
	if err := client.ConfigSet(t.Context(), "key-load-delay", "4000").Err(); err != nil {
		t.Fatal(err)
	}
	reloaded := make(chan error)
	go func() { reloaded <- client.Do(t.Context(), "DEBUG", "RELOAD").Err() }()
	awaitReply(t, client, "LOADING")
	for _, line := range []string{"put k v", "read key/000001 --timeout 3s", "scan --timeout 3s"} {
		p := start(t, s.URL, strings.Fields(line)...)
		p.ends(8)
		if said := p.stderr.String(); !strings.Contains(said, "the server is loading its data") {
			t.Errorf("%s: it said %q", line, said)
		}
	}
	p := start(t, s.URL, "read", "key/000001", "--timeout", "1m")
	if err := client.ConfigSet(t.Context(), "key-load-delay", "0").Err(); err != nil {
		t.Fatal(err)
	}
	p.ends(0)
	if err := <-reloaded; err != nil {
		t.Errorf("reloading: %v", err)
	}
}

// awaitReply waits until a server answers PING with an error.
func awaitReply(t *testing.T, client *redis.Client, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	defer cancel()
	for {
		err := client.Ping(ctx).Err()
		if redis.HasErrorPrefix(err, want) {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("waiting for %s: %v", want, err)
		}
		time.Sleep(time.Millisecond) // PING tells nothing by itself
	}
}

func TestIPv6(t *testing.T) {
	t.Parallel()
	s := testserver.RealTCP(t, "--bind", "127.0.0.1", "::1")
	address := strings.Replace(s.URL, "127.0.0.1", "[::1]", 1)
	start(t, address+"/3", "put", "k", "v").ends(0)
	start(t, s.URL, "read", "k").ends(3)
	p := start(t, s.URL, "read", "k", "--db", "3", "--headers=false", "-o", "tsv", "--columns", "value")
	if line := p.line(); line != "v" {
		t.Errorf("database 3 has %q", line)
	}
	p.ends(0)
}
