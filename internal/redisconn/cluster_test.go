// Tests of the client of a cluster: nodes that fail at each stage, and a real
// cluster whose slots and masters change.
package redisconn_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/redisconn"
	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// writings are the ways of sending a write.
func writings() map[string]func(context.Context, redis.UniversalClient) error {
	set := func(ctx context.Context) func(redis.Pipeliner) error {
		return func(p redis.Pipeliner) error { return p.Set(ctx, "k", "v", 0).Err() }
	}
	return map[string]func(context.Context, redis.UniversalClient) error{
		"command": func(ctx context.Context, c redis.UniversalClient) error { return c.Set(ctx, "k", "v", 0).Err() },
		"pipeline": func(ctx context.Context, c redis.UniversalClient) error {
			_, err := c.Pipelined(ctx, set(ctx))
			return err
		},
		"transaction": func(ctx context.Context, c redis.UniversalClient) error {
			_, err := c.TxPipelined(ctx, set(ctx))
			return err
		},
	}
}

// A write whose answer is lost, or that was refused, is not sent again.
func TestClusterSendsNothingTwice(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]storeerr.Kind{
		"":                         storeerr.UnknownOutcome,
		"-LOADING still\r\n":       storeerr.Unavailable,
		"-TRYAGAIN later\r\n":      storeerr.Unavailable,
		"-CLUSTERDOWN down\r\n":    storeerr.Unavailable,
		"-NOREPLICAS none\r\n":     storeerr.ReadOnly,
		"-OOM not allowed\r\n":     storeerr.OutOfMemory,
		"-ERR user_script:1: \r\n": storeerr.UnknownOutcome,
	} {
		for name, write := range writings() {
			if name == "transaction" && reply != "" {
				continue // what is refused there is refused by EXEC
			}
			var writes atomic.Int32
			client := open(t, redisconn.Options{Target: node(t, func(command string) string {
				switch command {
				case "MULTI":
					return "+OK\r\n"
				case "SET":
					writes.Add(1)
				}
				return reply
			})})
			err := write(t.Context(), client)
			if err = storeerr.FromRedis(err, storeerr.Writes, "putting"); !errors.Is(err, want) || writes.Load() != 1 {
				t.Errorf("%s after %q: sent %d times, %v: %v; want %v", name, reply, writes.Load(), storeerr.KindOf(err), err, want)
			}
		}
	}
}

// A write is followed to the node that has the slot, and is lost there once.
func TestClusterFollows(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"MOVED", "ASK"} {
		for _, last := range []string{"+OK\r\n", ""} {
			var first, second atomic.Int32
			other := answerWith(t, func(command string) string {
				switch command {
				case "ASKING":
					return "+OK\r\n"
				case "SET":
					second.Add(1)
				}
				return last
			})
			client := open(t, redisconn.Options{Target: node(t, func(string) string {
				first.Add(1)
				return fmt.Sprintf("-%s 12706 %s\r\n", answer, other.Addr)
			})})
			err := client.Set(t.Context(), "k", "v", 0).Err()
			if wantErr := last == ""; (err != nil) != wantErr || first.Load() != 1 || second.Load() != 1 {
				t.Errorf("%s, then %q: %d and %d times sent, %v", answer, last, first.Load(), second.Load(), err)
			}
			if last == "" {
				checkError(t, storeerr.FromRedis(err, storeerr.Writes, "putting"), storeerr.UnknownOutcome, "closed the connection")
			}
		}
	}
}

func TestClusterEndlessly(t *testing.T) {
	t.Parallel()
	var target redisconn.Target
	target = node(t, func(string) string { return "-MOVED 12706 " + target.Addr + "\r\n" })
	err := open(t, redisconn.Options{Target: target}).Set(t.Context(), "k", "v", 0).Err()
	checkError(t, storeerr.FromRedis(err, storeerr.Writes, "putting"), storeerr.Unavailable, "keep sending the command to one another")
}

func TestClusterUnreachable(t *testing.T) {
	t.Parallel()
	closed := closedPort(t)
	wait := make(chan struct{})
	t.Cleanup(func() { close(wait) })
	silent := answerWith(t, func(string) string { <-wait; return "" })
	for name, c := range map[string]struct {
		target redisconn.Target
		says   string
	}{
		"refused": {redisconn.Target{Network: "tcp", Addr: closed, Others: []string{closed}, Cluster: true}, "cannot connect to " + closed},
		"silent":  {redisconn.Target{Network: "tcp", Addr: silent.Addr, Cluster: true}, "timed out"},
	} {
		for way, write := range writings() {
			err := write(t.Context(), open(t, redisconn.Options{Target: c.target, Timeout: impatience}))
			if err = storeerr.FromRedis(err, storeerr.Writes, "putting"); !errors.Is(err, storeerr.Unavailable) {
				t.Errorf("%s, %s: %v: %v", name, way, storeerr.KindOf(err), err)
			}
		}
	}
}

func TestClusterRefusesToOpen(t *testing.T) {
	t.Parallel()
	for says, target := range map[string]redisconn.Target{
		"only the database 0, not 1":          {Network: "tcp", Addr: "h:1", Cluster: true, DB: new(1)},
		"needs no Sentinels":                  {Network: "tcp", Addr: "h:1", Cluster: true, Sentinel: &redisconn.Sentinel{Master: "m"}},
		"not by a Unix socket":                {Network: "unix", Addr: "/s", Cluster: true},
		"2 servers are named":                 {Network: "tcp", Addr: "h:1", Others: []string{"h:2"}},
		"no TLS on a Unix socket":             {Network: "unix", Addr: "/s", TLS: &redisconn.TLS{}},
		`Sentinels' user "s" has no password`: {Network: "tcp", Addr: "h:1", Sentinel: &redisconn.Sentinel{Master: "m", Username: "s"}},
	} {
		_, err := redisconn.Open(redisconn.Options{Target: target})
		checkError(t, err, storeerr.Invalid, says)
	}
}

// A node that is taken for a server, and the other way round.
func TestWrongShape(t *testing.T) {
	t.Parallel()
	cluster, sentinel := testserver.StartCluster(t), testserver.StartSentinel(t, testserver.SentinelOptions{})
	addr := sentinel.Master.Addr()
	for name, c := range map[string]struct {
		target redisconn.Target
		says   string
		hint   string
	}{
		"node as a server":       {redisconn.Target{Addr: cluster.Addrs()[0]}, "is a node of a Redis Cluster", "--cluster"},
		"Sentinel as a server":   {redisconn.Target{Addr: sentinel.Addrs()[0]}, "is a Sentinel", "--sentinel-master"},
		"Sentinel as a node":     {redisconn.Target{Addr: sentinel.Addrs()[0], Cluster: true}, "is a Sentinel", "--sentinel-master"},
		"server as a node":       {redisconn.Target{Addr: addr, Cluster: true}, "no Redis Cluster", "--cluster"},
		"server as a Sentinel":   {redisconn.Target{Addr: addr, Sentinel: &redisconn.Sentinel{Master: "m"}}, "no Sentinel", "addresses"},
		"Sentinel, another name": {redisconn.Target{Addr: sentinel.Addrs()[0], Sentinel: &redisconn.Sentinel{Master: "m"}}, `watch no primary named "m"`, "SENTINEL MASTERS"},
	} {
		c.target.Network = "tcp"
		for way, write := range writings() {
			err := write(t.Context(), open(t, redisconn.Options{Target: c.target}))
			err = storeerr.FromRedis(err, storeerr.Writes, name+", "+way)
			checkError(t, err, storeerr.Invalid, c.says)
			checkHint(t, err, c.hint)
		}
	}
}

// All keys are found, before and after a slot has moved and a master has died.
func TestRealCluster(t *testing.T) {
	t.Parallel()
	cluster := testserver.StartCluster(t)
	client := open(t, redisconn.Options{Target: redisconn.Target{Network: "tcp", Addr: cluster.Addrs()[1], Cluster: true}})
	check := func(when string) {
		t.Helper()
		for i := range 100 {
			key := fmt.Sprint("key-", i)
			if got, err := client.Get(t.Context(), key).Result(); err != nil || got != key {
				t.Errorf("%s: %s is %q, %v", when, key, got, err)
			}
		}
	}
	for i := range 100 {
		key := fmt.Sprint("key-", i)
		if err := client.Set(t.Context(), key, key, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	check("at first")
	slot := int(client.ClusterKeySlot(t.Context(), "key-1").Val())
	from := cluster.Master(slot)
	cluster.MigrateSlot(t, slot, from, (from+1)%3)
	check("after a slot has moved")
	// A replica that has all keys takes the place of its master.
	for _, master := range cluster.Masters {
		if err := redis.NewClient(&redis.Options{Addr: master.Addr()}).Wait(t.Context(), 1, patience).Err(); err != nil {
			t.Fatal(err)
		}
	}
	cluster.KillMaster(t, 0)
	check("after a master has died")
}
