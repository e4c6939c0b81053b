// Three Sentinels that watch a master and its replica.

package testserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// MasterName is the name by which the Sentinels of [StartSentinel] know the
// master.
const MasterName = "mymaster"

// sentinels is how many Sentinels watch.
const sentinels = 3

// SentinelOptions are the passwords asked for, by the default user. Empty
// means none.
type SentinelOptions struct {
	Password         string // of the master and the replica
	SentinelPassword string // of the Sentinels
}

// Sentinel is a master and a replica that three Sentinels watch.
type Sentinel struct {
	*Replicated
	Sentinels []*Node
}

// StartSentinel starts the master, the replica and the Sentinels, and waits
// until all know of each other.
func StartSentinel(t testing.TB, o SentinelOptions) *Sentinel {
	t.Helper()
	s := &Sentinel{Replicated: startReplicated(t, o.Password)}
	for range sentinels {
		s.Sentinels = append(s.Sentinels, startNode(t, o.onConfig(s.Master.port(t)), o.SentinelPassword))
	}
	s.settle(t)
	return s
}

// settle waits until all know each other as they are now.
func (s *Sentinel) settle(t testing.TB) {
	t.Helper()
	s.hurry(t, 100)
	s.Replica.awaitReplica(t)
	s.awaitAgreement(t)
	// A Sentinel undoes a promotion that nobody has told it of for four periods.
	s.hurry(t, 1000)
}

// hurry lets the Sentinels do more often what they do by the clock: introduce
// themselves so many milliseconds apart, and look after the servers each second.
func (s *Sentinel) hurry(t testing.TB, publish int) {
	t.Helper()
	for _, node := range s.Sentinels {
		node.do(t, "SENTINEL", "DEBUG", "PUBLISH-PERIOD", publish, "INFO-PERIOD", 1000)
	}
}

// onConfig writes the config file of a Sentinel, which changes it later on.
func (o SentinelOptions) onConfig(master string) listener {
	return func(dir string) (endpoint, error) {
		port, err := freePort()
		if err != nil {
			return endpoint{}, err
		}
		lines := []string{
			"port " + port,
			"bind 127.0.0.1",
			"dir " + dir,
			fmt.Sprintf("sentinel monitor %s 127.0.0.1 %s %d", MasterName, master, sentinels/2+1),
			"sentinel down-after-milliseconds " + MasterName + " 1000",
			"sentinel failover-timeout " + MasterName + " 3000",
		}
		if o.Password != "" {
			lines = append(lines, "sentinel auth-pass "+MasterName+" "+o.Password)
		}
		if o.SentinelPassword != "" {
			lines = append(lines, "requirepass "+o.SentinelPassword, "sentinel sentinel-pass "+o.SentinelPassword)
		}
		path := filepath.Join(dir, "sentinel.conf")
		err = os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600)
		return endpoint{args: []string{path, "--sentinel"}, url: "redis://127.0.0.1:" + port}, err
	}
}

// Addrs returns the addresses of the Sentinels, host:port.
func (s *Sentinel) Addrs() []string {
	var addrs []string
	for _, node := range s.Sentinels {
		addrs = append(addrs, node.Addr())
	}
	return addrs
}

// Failover lets the Sentinels make the replica the master and the other way
// round, as an operator does, and returns when they are.
func (s *Sentinel) Failover(t testing.TB) {
	t.Helper()
	done := s.switched(t)
	s.Sentinels[0].do(t, "SENTINEL", "FAILOVER", MasterName)
	done()
	s.Master, s.Replica = s.Replica, s.Master
	s.settle(t)
}

// KillMaster ends the master at once, and returns when the Sentinels have made
// the replica the master. None is left to replicate it.
func (s *Sentinel) KillMaster(t testing.TB) {
	t.Helper()
	done := s.switched(t)
	s.Master.Kill()
	done()
	s.Master, s.Replica = s.Replica, nil
}

// switched listens to all Sentinels. The function it returns waits until each
// has said that the master is another one.
func (s *Sentinel) switched(t testing.TB) func() {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	var all []*redis.PubSub
	for _, node := range s.Sentinels {
		events := node.client.Subscribe(ctx, "+switch-master")
		if _, err := events.Receive(ctx); err != nil {
			t.Fatalf("listening to a Sentinel: %v", err)
		}
		all = append(all, events)
	}
	return func() {
		t.Helper()
		defer cancel()
		for _, events := range all {
			if _, err := events.ReceiveMessage(ctx); err != nil {
				t.Fatalf("waiting for the failover: %v", err)
			}
			_ = events.Close()
		}
	}
}

// awaitAgreement waits until each Sentinel knows the master, the replica and
// the other Sentinels, and holds all of them for well.
func (s *Sentinel) awaitAgreement(t testing.TB) {
	t.Helper()
	line := fmt.Sprintf("name=%s,status=ok,address=%s,slaves=1,sentinels=%d", MasterName, s.Master.Addr(), sentinels)
	for _, node := range s.Sentinels {
		await(t, "the Sentinels know of each other", func(ctx context.Context) error {
			if err := says(node.client.Info(ctx, "sentinel"), line); err != nil {
				return err
			}
			replicas, err := node.client.Do(ctx, "SENTINEL", "REPLICAS", MasterName).Slice()
			if err == nil && !strings.Contains(fmt.Sprint(replicas...), " flags:slave ") {
				err = fmt.Errorf("the replica is not well: %v", replicas)
			}
			return err
		})
	}
}
