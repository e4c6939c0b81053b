// Tests of trying reads again, and of what is not tried again.
package redisconn_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/redisconn"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Reads get their answer where the third try does, writes fail at the first.
func TestReadsAreTriedAgain(t *testing.T) {
	t.Parallel()
	script := func(name string) func(context.Context, redis.UniversalClient) error {
		return func(ctx context.Context, c redis.UniversalClient) error {
			return c.EvalSha(ctx, luascripts.Must(name).SHA1, []string{"k"}).Err()
		}
	}
	get := func(p redis.Pipeliner) error { p.Get(t.Context(), "a"); p.Get(t.Context(), "b"); return nil }
	for name, c := range map[string]struct {
		run   func(context.Context, redis.UniversalClient) error
		reads bool
	}{
		"command":            {func(ctx context.Context, c redis.UniversalClient) error { return c.Get(ctx, "k").Err() }, true},
		"pipeline":           {func(ctx context.Context, c redis.UniversalClient) error { _, err := c.Pipelined(ctx, get); return err }, true},
		"script":             {script("opaque_scan_rows"), true},
		"script that writes": {script("opaque_write"), false},
		"unknown script":     {func(ctx context.Context, c redis.UniversalClient) error { return c.Eval(ctx, "return 1", nil).Err() }, false},
		"write":              {func(ctx context.Context, c redis.UniversalClient) error { return c.Set(ctx, "k", "v", 0).Err() }, false},
		"mixed pipeline": {func(ctx context.Context, c redis.UniversalClient) error {
			_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error { p.Get(ctx, "k"); p.Incr(ctx, "k"); return nil })
			return err
		}, false},
	} {
		for _, failure := range []string{"", "-LOADING still\r\n", "-TRYAGAIN later\r\n", "-CLUSTERDOWN down\r\n", "-MASTERDOWN down\r\n"} {
			for _, serve := range []func(*testing.T, func(string) string) redisconn.Target{answerWith, node} {
				var seen atomic.Int32
				target := serve(t, func(string) string {
					if seen.Add(1) <= 2 {
						return failure
					}
					return "+v\r\n"
				})
				err := c.run(t.Context(), open(t, redisconn.Options{Target: target}))
				if c.reads != (err == nil) || !c.reads && seen.Load() > 2 {
					t.Errorf("%s after %q, cluster %v: %v, %d commands", name, failure, target.Cluster, err, seen.Load())
				}
			}
		}
	}
}

// What will not pass is not tried again.
func TestNotTriedAgain(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{"-OOM memory\r\n", "-NOPERM no\r\n", "-WRONGTYPE no\r\n", "-READONLY replica\r\n", "-BUSY script\r\n"} {
		var seen atomic.Int32
		client := open(t, redisconn.Options{Target: answerWith(t, func(string) string { seen.Add(1); return reply })})
		if err := client.Get(t.Context(), "k").Err(); err == nil || seen.Load() != 1 {
			t.Errorf("after %q: %v, sent %d times", reply, err, seen.Load())
		}
	}
}

// A server that loads for longer than the timeout is said to be loading.
func TestTriedUntilTheDeadline(t *testing.T) {
	t.Parallel()
	target := answerWith(t, func(string) string { return "-LOADING still\r\n" })
	err := open(t, redisconn.Options{Target: target, Timeout: impatience}).Get(t.Context(), "k").Err()
	checkError(t, storeerr.FromRedis(err, storeerr.Reads, "reading"), storeerr.Unavailable, "the server is loading its data")

	ctx, cancel := context.WithTimeout(t.Context(), impatience)
	defer cancel()
	err = open(t, redisconn.Options{Target: target}).Get(ctx, "k").Err()
	checkError(t, storeerr.FromRedis(err, storeerr.Reads, "reading"), storeerr.Unavailable, "the server is loading its data")
}

// What it said is told as well when it is too slow to say it once more.
func TestLoadingAndSlow(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	var seen atomic.Int32
	target := answerWith(t, func(string) string {
		if seen.Add(1) > 1 {
			<-over
		}
		return "-LOADING still\r\n"
	})
	err := open(t, redisconn.Options{Target: target, Timeout: impatience}).Get(t.Context(), "k").Err()
	checkError(t, storeerr.FromRedis(err, storeerr.Reads, "reading"), storeerr.Unavailable, "the server is loading its data")
	if seen.Load() < 2 {
		t.Error("it was not tried again")
	}
}

// A stranger is tried a few times, however long the timeout is.
func TestStrangers(t *testing.T) {
	t.Parallel()
	var dialed atomic.Int32
	target := listen(t, func(net.Conn) { dialed.Add(1) })
	err := open(t, redisconn.Options{Target: target}).Get(t.Context(), "k").Err()
	checkError(t, storeerr.FromRedis(err, storeerr.Reads, "reading"), storeerr.Unavailable, "closed the connection")
	if n := dialed.Load(); n < 2 || n > 8 {
		t.Errorf("dialed %d times", n)
	}
	closed := redisconn.Target{Network: "tcp", Addr: closedPort(t)}
	err = open(t, redisconn.Options{Target: closed}).Get(t.Context(), "k").Err()
	checkError(t, storeerr.FromRedis(err, storeerr.Reads, "reading"), storeerr.Unavailable, "connection refused")
}

// The end of the program ends the tries.
func TestTriesEnd(t *testing.T) {
	t.Parallel()
	until, end := context.WithCancel(t.Context())
	var seen atomic.Int32
	target := answerWith(t, func(string) string {
		if seen.Add(1) == 2 {
			end()
		}
		return "-LOADING still\r\n"
	})
	if err := open(t, redisconn.Options{Target: target, Until: until}).Get(t.Context(), "k").Err(); err == nil || seen.Load() != 2 {
		t.Errorf("%v, after %d tries", err, seen.Load())
	}
}
