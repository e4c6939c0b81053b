// Tests of servers that are more than one, or more than plain.
package testserver_test

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
)

func TestTLS(t *testing.T) {
	t.Parallel()
	authority := testserver.NewAuthority(t)
	s := testserver.RealTLS(t, testserver.TLS{Authority: authority, Names: []string{"localhost"}, ClientAuth: true})
	if got := s.Client(t).Ping(t.Context()).Val(); got != "PONG" {
		t.Errorf("PING = %q, want PONG", got)
	}
	if !strings.HasPrefix(s.URL, "rediss://localhost:") {
		t.Errorf("the URL is %s", s.URL)
	}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t, testserver.Users("bob on >secret ~app:* &* +@all", "eve on nopass ~* +get")...)
	c := s.Client(t)
	for user, password := range map[string]string{"bob": "secret", "eve": "any"} {
		if err := c.Do(t.Context(), "AUTH", user, password).Err(); err != nil {
			t.Errorf("signing in as %s: %v", user, err)
		}
	}
}

func TestReplicated(t *testing.T) {
	t.Parallel()
	r := testserver.StartReplicated(t)
	if err := r.Master.Client(t).Set(t.Context(), "k", "v", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := r.Replica.Client(t).Set(t.Context(), "k", "w", 0).Err(); !redis.HasErrorPrefix(err, "READONLY") {
		t.Errorf("SET on the replica: %v, want READONLY", err)
	}
}

func TestSentinel(t *testing.T) {
	t.Parallel()
	s := testserver.StartSentinel(t, testserver.SentinelOptions{Password: "data", SentinelPassword: "watch"})
	c := redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: testserver.MasterName, SentinelAddrs: s.Addrs(), Password: "data", SentinelPassword: "watch",
	})
	defer c.Close()
	for _, change := range []func(testing.TB){s.Failover, s.Failover, s.KillMaster} {
		old := s.Master.Addr()
		change(t)
		if err := c.Set(t.Context(), "k", "v", 0).Err(); err != nil {
			t.Errorf("SET behind the failover: %v", err)
		}
		if s.Master.Addr() == old {
			t.Errorf("%s is still the master", old)
		}
	}
}

func TestCluster(t *testing.T) {
	t.Parallel()
	cluster := testserver.StartCluster(t)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})
	defer c.Close()
	for _, key := range []string{"{a}1", "{a}2", "b", "c"} {
		if err := c.Set(t.Context(), key, "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	slot := int(c.ClusterKeySlot(t.Context(), "{a}1").Val())
	from := cluster.Master(slot)
	to := (from + 1) % len(cluster.Masters)
	cluster.MigrateSlot(t, slot, from, to)
	for master, want := range map[int]int64{from: 0, to: 2} {
		if got := cluster.Masters[master].Client(t).ClusterCountKeysInSlot(t.Context(), slot).Val(); got != want {
			t.Errorf("master %d has %d keys of the slot that moved from %d to %d, want %d", master, got, from, to, want)
		}
	}
	cluster.KillMaster(t, to)
	for _, key := range []string{"{a}1", "{a}2", "b", "c"} {
		if got := c.Get(t.Context(), key).Val(); got != "v" {
			t.Errorf("GET %s = %q behind the failover, want \"v\"", key, got)
		}
	}
	empty := testserver.StartEmptyNode(t)
	if err := empty.Client(t).Get(t.Context(), "b").Err(); !redis.HasErrorPrefix(err, "CLUSTERDOWN") {
		t.Errorf("GET at a node without a cluster: %v, want CLUSTERDOWN", err)
	}
	cluster.Join(t, empty)
	if err := empty.Client(t).Get(t.Context(), "b").Err(); !redis.HasErrorPrefix(err, "MOVED") {
		t.Errorf("GET at a master without slots: %v, want MOVED", err)
	}
}
