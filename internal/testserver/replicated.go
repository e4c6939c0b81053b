// A master with a replica, and the nodes that all topologies are made of.

package testserver

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Node is a server of a topology. It may be killed before its test ends.
type Node struct {
	Server
	process *process
	client  *redis.Client
}

// Addr returns the node's host:port.
func (n *Node) Addr() string {
	_, addr, _ := strings.Cut(n.URL, "://")
	return addr
}

// Kill ends the node at once, as a machine that fails does.
func (n *Node) Kill() { n.process.stop() }

// port is the node's port.
func (n *Node) port(t testing.TB) string {
	t.Helper()
	_, port, err := net.SplitHostPort(n.Addr())
	if err != nil {
		t.Fatalf("reading the address of a node: %v", err)
	}
	return port
}

// startNode starts a node for a test, which signs in with a password unless
// that is empty.
func startNode(t testing.TB, listen listener, password string, args ...string) *Node {
	t.Helper()
	p, err := launch(listen, args)
	require(t, err)
	return newNode(t, p, password)
}

// newNode makes a node of a process, which ends with the test.
func newNode(t testing.TB, p *process, password string) *Node {
	t.Helper()
	t.Cleanup(func() { p.end(t) })
	client := redis.NewClient(&redis.Options{Addr: strings.TrimPrefix(p.url, "redis://"), Password: password})
	t.Cleanup(func() { _ = client.Close() })
	return &Node{Server: p.server(), process: p, client: client}
}

// do runs a command that has to work.
func (n *Node) do(t testing.TB, args ...any) {
	t.Helper()
	if err := n.client.Do(t.Context(), args...).Err(); err != nil {
		t.Fatalf("%s: %v: %v", n.Addr(), args, err)
	}
}

// Replicated is a master with a replica.
type Replicated struct{ Master, Replica *Node }

// StartReplicated starts a master with a replica that has caught up with it.
func StartReplicated(t testing.TB) *Replicated {
	t.Helper()
	return startReplicated(t, "")
}

func startReplicated(t testing.TB, password string) *Replicated {
	t.Helper()
	args := []string{"--repl-diskless-sync-delay", "0"}
	if password != "" {
		args = append(args, "--requirepass", password, "--masterauth", password)
	}
	r := &Replicated{Master: startNode(t, onPort, password, args...)}
	args = append(args, "--replicaof", "127.0.0.1", r.Master.port(t))
	r.Replica = startNode(t, onPort, password, args...)
	r.Replica.awaitReplica(t)
	await(t, r.Master.Addr()+" counts its replica as online", func(ctx context.Context) error {
		info, err := r.Master.client.Info(ctx, "replication").Result()
		if err == nil && !strings.Contains(info, ",state=online,") {
			err = fmt.Errorf("it says %q", info)
		}
		return err
	})
	return r
}

// awaitReplica waits until the node is a replica that has caught up.
func (n *Node) awaitReplica(t testing.TB) {
	t.Helper()
	await(t, n.Addr()+" is a replica that has caught up", func(ctx context.Context) error {
		return says(n.client.Info(ctx, "replication"), "role:slave", "master_link_status:up")
	})
}
