// Tests of starting, reaching and ending an embedded server, and of its time.
package embedded_test

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/embedded"
	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func TestStartListensOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ addr, host string }{
		{"", "127.0.0.1"},
		{"127.0.0.1:0", "127.0.0.1"},
		{"localhost:0", "127.0.0.1"},
	} {
		s := start(t, embedded.Options{Addr: tt.addr})
		host, port, err := net.SplitHostPort(s.Addr())
		if err != nil || host != tt.host || port == "0" {
			t.Errorf("Addr() for %q = %q, %v, want a port of %s", tt.addr, s.Addr(), err, tt.host)
		}
		if s.URL() != "redis://"+s.Addr() {
			t.Errorf("URL() = %q, want redis://%s", s.URL(), s.Addr())
		}
	}
	for _, addr := range []string{":6379", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.com:0", "127.0.0.1", "6379"} {
		if s, err := embedded.Start(t.Context(), embedded.Options{Addr: addr}); !errors.Is(err, storeerr.Invalid) {
			t.Errorf("Start(%q) = %v, %v, want storeerr.Invalid", addr, s, err)
		}
	}
}

func TestStartOnTakenPort(t *testing.T) {
	t.Parallel()
	first := start(t, embedded.Options{})
	s, err := embedded.Start(t.Context(), embedded.Options{Addr: first.Addr()})
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("Start on a taken port = %v, %v, want the system's words", s, err)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Options{})
	c := dial(t, s, 0)
	must(t, c.Ping(t.Context()))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatalf("Close() = %v", err)
		}
	}
	if conn, err := net.Dial("tcp", s.Addr()); err == nil {
		conn.Close()
		t.Error("a closed server takes connections")
	}
	if err := s.Save(); err != nil {
		t.Errorf("Save() after Close() = %v, want nothing", err)
	}
}

// TestTime holds TIME against this machine's clock, for commands, transactions
// and scripts.
func TestTime(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, embedded.Options{}), 0)
	for name, ask := range map[string]func() time.Time{
		"command": func() time.Time { return c.Time(t.Context()).Val() },
		"transaction": func() time.Time {
			tx := c.TxPipeline()
			now := tx.Time(t.Context())
			if _, err := tx.Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
			return now.Val()
		},
		"script": func() time.Time {
			now, err := c.Eval(t.Context(),
				"local t = redis.call('TIME') return t[1] * 1000 + t[2] / 1000", nil).Int64()
			if err != nil {
				t.Fatal(err)
			}
			return time.UnixMilli(now)
		},
	} {
		// The clock rests for a moment after each move, so it may be behind.
		before := time.Now().Add(-100 * time.Millisecond)
		if got, after := ask(), time.Now(); got.Before(before) || got.After(after) {
			t.Errorf("TIME in a %s = %v, want one from %v to %v", name, got, before, after)
		}
	}
}

// TestTimeAgreesWithExpiries reads one expiry again and again: the server's
// time and the TTL in the same moment must always add up to it.
func TestTimeAgreesWithExpiries(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		c := s.Client(t)
		const script = `local t = redis.call('TIME')
			local ms = t[1] * 1000 + (t[2] - t[2] % 1000) / 1000
			redis.call('SET', KEYS[1], 'v', 'PX', ARGV[1])
			return {ms + ARGV[1], redis.call('PEXPIRETIME', KEYS[1])}`
		set, err := c.Eval(t.Context(), script, []string{"k"}, 60_000).Int64Slice()
		if err != nil {
			t.Fatal(err)
		}
		// A real Redis may see another millisecond from one command to the next.
		slack := int64(0)
		if s.Real {
			slack = 2
		}
		if d := set[1] - set[0]; d < -slack || d > slack {
			t.Errorf("expires at %d, want %d", set[1], set[0])
		}
		for range 100 {
			tx := c.TxPipeline()
			now, ttl := tx.Time(t.Context()), tx.PTTL(t.Context(), "k")
			if _, err := tx.Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := now.Val().UnixMilli() + ttl.Val().Milliseconds()
			if d := got - set[1]; d < -slack || d > slack {
				t.Fatalf("TIME + PTTL = %d, want %d", got, set[1])
			}
		}
	})
}

func TestKeysExpire(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, embedded.Options{}), 0)
	must(t,
		c.Set(t.Context(), "short", "v", 20*time.Millisecond),
		c.HSet(t.Context(), "hash", "f", "v"),
		c.PExpire(t.Context(), "hash", 20*time.Millisecond),
		c.Set(t.Context(), "long", "v", time.Hour),
		c.Set(t.Context(), "lasting", "v", 0))
	for c.Exists(t.Context(), "short", "hash").Val() != 0 {
		if t.Context().Err() != nil {
			t.Fatal("the keys do not expire")
		}
	}
	if got := c.Exists(t.Context(), "long", "lasting").Val(); got != 2 {
		t.Errorf("%d of the 2 other keys are left", got)
	}
}

func TestExpiriesTooFarAreRefused(t *testing.T) {
	t.Parallel()
	c := dial(t, start(t, embedded.Options{}), 0)
	ctx := t.Context()
	must(t, c.Set(ctx, "k", "old", 0))
	const year9999 = 253402300799999
	for _, args := range [][]any{
		{"SET", "k", "v", "PX", 1<<53 - 1},
		{"SET", "k", "v", "NX", "EX", 1 << 53},
		{"SET", "k", "v", "PXAT", year9999},
		{"SETEX", "k", 10_000_000_000, "v"},
		{"PSETEX", "k", 10_000_000_000_000, "v"},
		{"PEXPIRE", "k", 10_000_000_000_000},
		{"EXPIRE", "k", 10_000_000_000},
		{"PEXPIREAT", "k", year9999},
		{"EXPIREAT", "k", year9999 / 1000},
		{"GETEX", "k", "PX", 10_000_000_000_000},
		{"EVAL", "return redis.call('PEXPIRE', 'k', '10000000000000')", 0},
	} {
		if err := c.Do(ctx, args...).Err(); err == nil || !strings.Contains(err.Error(), "out of range") {
			t.Errorf("%v: error %v, want out of range", args, err)
		}
	}
	if v, ttl := c.Get(ctx, "k").Val(), c.PTTL(ctx, "k").Val(); v != "old" || ttl != -1 {
		t.Errorf("k = %q with TTL %v, want it unchanged", v, ttl)
	}
	tx := c.TxPipeline()
	tx.Set(ctx, "other", "v", 0)
	tx.Do(ctx, "SET", "k", "v", "PX", 1<<53-1)
	if _, err := tx.Exec(ctx); err == nil || c.Exists(ctx, "other").Val() != 0 {
		t.Errorf("a transaction with such an expiry: %v, want it refused as a whole", err)
	}
	must(t, c.Do(ctx, "SET", "k", "v", "PX", 9_000_000_000_000))
	if ttl := c.Do(ctx, "PTTL", "k").Val().(int64); ttl < 8_999_999_000_000 {
		t.Errorf("PTTL = %d, want some 9000000000000", ttl)
	}
}

func TestDatabases(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		c := s.Client(t).Conn()
		defer c.Close()
		if err := c.Select(t.Context(), 15).Err(); err != nil {
			t.Errorf("SELECT 15: %v", err)
		}
		if err := c.Select(t.Context(), 16).Err(); err == nil || err.Error() != "ERR DB index is out of range" {
			t.Errorf("SELECT 16: %v, want ERR DB index is out of range", err)
		}
	})
}

func TestInfo(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		c := s.Client(t)
		must(t, c.Set(t.Context(), "k", "v", 0))
		all := c.Info(t.Context()).Val()
		for _, want := range []string{
			"\r\nredis_version:", "\r\nredis_mode:standalone\r\n", "\r\nconnected_clients:1\r\n",
			"\r\nmaxmemory_policy:noeviction\r\n", "\r\nloading:0\r\n", "\r\nrole:master\r\n",
			"\r\ncluster_enabled:0\r\n", "\r\ndb0:keys=1",
		} {
			if !strings.Contains(all, want) {
				t.Errorf("INFO lacks %q:\n%s", want, all)
			}
		}
		if got := c.Info(t.Context(), "replication").Val(); !strings.HasPrefix(got, "# Replication\r\nrole:master\r\n") {
			t.Errorf("INFO replication = %q", got)
		}
		if err := c.Do(t.Context(), "MEMORY", "USAGE", "k", "SAMPLES", 0).Err(); err != nil {
			t.Errorf("MEMORY USAGE with SAMPLES: %v", err)
		}
		if err := c.Do(t.Context(), "MEMORY", "USAGE", "none").Err(); !errors.Is(err, redis.Nil) {
			t.Errorf("MEMORY USAGE of no key: %v, want nil", err)
		}
	})
}

// TestManyClients increments one key in scripts that other clients' commands
// come between.
func TestManyClients(t *testing.T) {
	t.Parallel()
	c, ctx := dial(t, start(t, embedded.Options{}), 0), t.Context()
	const script = `local n = tonumber(redis.call('GET', KEYS[1]) or '0')
		redis.call('SET', KEYS[1], string.format('%.0f', n + 1), 'PX', 60000)
		return redis.call('ZADD', 'log', n + 1, cmsgpack.pack(n + 1))`
	const clients, each = 16, 25
	failed := make(chan error, clients)
	for range clients {
		go func() {
			var err error
			for range each {
				tx := c.TxPipeline()
				tx.Time(ctx)
				tx.PTTL(ctx, "counter")
				_, txErr := tx.Exec(ctx)
				err = errors.Join(err, txErr, c.Eval(ctx, script, []string{"counter"}).Err(), c.Info(ctx).Err())
			}
			failed <- err
		}()
	}
	for range clients {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	if n, log := c.Get(ctx, "counter").Val(), c.ZCard(ctx, "log").Val(); n != "400" || log != 400 {
		t.Errorf("counter = %s with a log of %d, want 400 of both", n, log)
	}
}
