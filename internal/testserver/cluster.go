// A Redis Cluster of three masters and three replicas.

package testserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

const (
	clusterMasters = 3 // the nodes behind them are their replicas, in order
	clusterSlots   = 16384

	// pace is the cluster-node-timeout, in ms, while the nodes get to know of
	// a change: they talk to each other at least twice in that time. calm is
	// the one otherwise, so that a busy machine looks like no failure.
	pace = "500"
	calm = "15000"
)

// Cluster is a Redis Cluster. Its slots are shared out evenly, in order.
type Cluster struct {
	Masters  []*Node
	Replicas []*Node // that of each master, or nil when it has become it

	slots []int // the master of each slot, by its place in Masters
}

// StartCluster starts the nodes, and waits until all of them know all and the
// replicas have caught up. It takes the two seconds for which a new master
// takes no writes.
func StartCluster(t testing.TB, args ...string) *Cluster {
	t.Helper()
	args = append([]string{
		"--cluster-node-timeout", pace, "--cluster-replica-no-failover", "yes",
		"--cluster-allow-replica-migration", "no", "--cluster-replica-validity-factor", "0",
		// A replica of which nothing was heard yet is shown to no client.
		"--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1",
	}, args...)
	nodes := startNodes(t, 2*clusterMasters, args)
	c := &Cluster{Masters: nodes[:clusterMasters:clusterMasters], Replicas: nodes[clusterMasters:], slots: make([]int, clusterSlots)}
	for i, node := range c.Masters {
		first, last := i*clusterSlots/clusterMasters, (i+1)*clusterSlots/clusterMasters-1
		node.do(t, "CLUSTER", "SET-CONFIG-EPOCH", i+1)
		node.do(t, "CLUSTER", "ADDSLOTSRANGE", first, last)
		for slot := first; slot <= last; slot++ {
			c.slots[slot] = i
		}
	}
	for i, node := range nodes {
		for _, other := range nodes[:i] {
			node.do(t, "CLUSTER", "MEET", "127.0.0.1", other.port(t), other.busPort(t))
		}
	}
	for i, replica := range c.Replicas {
		master := c.Masters[i].id(t)
		await(t, "a replica knows its master", func(ctx context.Context) error {
			return replica.client.Do(ctx, "CLUSTER", "REPLICATE", master).Err()
		})
	}
	c.awaitAgreement(t)
	c.configure(t, "cluster-node-timeout", calm)
	return c
}

// StartEmptyNode starts a node that has no slots, and is of no cluster yet.
func StartEmptyNode(t testing.TB) *Node {
	t.Helper()
	return startNodes(t, 1, []string{"--cluster-node-timeout", calm})[0]
}

// Join lets a node without slots join the cluster.
func (c *Cluster) Join(t testing.TB, node *Node) {
	t.Helper()
	first := c.Masters[0]
	node.do(t, "CLUSTER", "MEET", "127.0.0.1", first.port(t), first.busPort(t))
	await(t, "the new node knows the cluster", func(ctx context.Context) error {
		return says(node.client.ClusterInfo(ctx), "cluster_state:ok")
	})
}

// startNodes starts nodes of a cluster at the same time.
func startNodes(t testing.TB, count int, args []string) []*Node {
	t.Helper()
	processes, errs := make([]*process, count), make([]error, count)
	var all sync.WaitGroup
	for i := range processes {
		all.Go(func() { processes[i], errs[i] = launch(onClusterPorts, args) })
	}
	all.Wait()
	var nodes []*Node
	for _, p := range processes {
		if p != nil {
			nodes = append(nodes, newNode(t, p, ""))
		}
	}
	require(t, errors.Join(errs...))
	return nodes
}

// onClusterPorts is onPort with another port for the bus between nodes.
func onClusterPorts(dir string) (endpoint, error) {
	at, err := onPort(dir)
	if err != nil {
		return endpoint{}, err
	}
	bus, err := freePort()
	at.args = append(at.args, "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-port", bus)
	return at, err
}

// Addrs returns the addresses of the masters, host:port.
func (c *Cluster) Addrs() []string {
	var addrs []string
	for _, node := range c.Masters {
		addrs = append(addrs, node.Addr())
	}
	return addrs
}

// Master returns the master of a slot, by its place in Masters.
func (c *Cluster) Master(slot int) int { return c.slots[slot] }

// KillMaster ends a master at once, and returns when its replica has taken its
// place and all nodes that are left know that.
func (c *Cluster) KillMaster(t testing.TB, master int) {
	t.Helper()
	heir := c.Replicas[master]
	c.Masters[master].Kill()
	c.Masters[master], c.Replicas[master] = heir, nil
	c.configure(t, "cluster-node-timeout", pace)
	heir.do(t, "CONFIG", "SET", "cluster-replica-no-failover", "no")
	c.awaitAgreement(t)
	c.configure(t, "cluster-node-timeout", calm)
}

// nodes are those that live, the masters first.
func (c *Cluster) nodes() []*Node {
	nodes := append([]*Node(nil), c.Masters...)
	for _, replica := range c.Replicas {
		if replica != nil {
			nodes = append(nodes, replica)
		}
	}
	return nodes
}

// configure changes a setting of all nodes.
func (c *Cluster) configure(t testing.TB, setting, value string) {
	t.Helper()
	for _, node := range c.nodes() {
		node.do(t, "CONFIG", "SET", setting, value)
	}
}

// awaitAgreement waits until each node takes commands and knows which the
// masters are, with their slots and replicas.
func (c *Cluster) awaitAgreement(t testing.TB) {
	t.Helper()
	for _, node := range c.nodes() {
		await(t, node.Addr()+" knows the cluster", func(ctx context.Context) error {
			if err := says(node.client.ClusterInfo(ctx), "cluster_state:ok", fmt.Sprintf("cluster_slots_ok:%d", clusterSlots)); err != nil {
				return err
			}
			return c.compare(ctx, node)
		})
	}
	for _, replica := range c.Replicas {
		if replica != nil {
			replica.awaitReplica(t)
		}
	}
}

// compare returns an error unless a node sees the masters and replicas as they
// are.
func (c *Cluster) compare(ctx context.Context, node *Node) error {
	ranges, err := node.client.ClusterSlots(ctx).Result() //nolint:staticcheck // Redis 6.2 has no CLUSTER SHARDS
	if err != nil {
		return err
	}
	for _, r := range ranges {
		master := c.slots[r.Start]
		want := c.Masters[master].Addr()
		if replica := c.Replicas[master]; replica != nil {
			want += " " + replica.Addr()
		}
		var got []string
		for _, n := range r.Nodes {
			got = append(got, n.Addr)
		}
		if got := strings.Join(got, " "); got != want {
			return fmt.Errorf("slot %d is said to be at %s, not %s", r.Start, got, want)
		}
	}
	return nil
}

// id is the name by which the nodes know the node.
func (n *Node) id(t testing.TB) string {
	t.Helper()
	id, err := n.client.Do(t.Context(), "CLUSTER", "MYID").Text()
	if err != nil {
		t.Fatalf("asking %s for its id: %v", n.Addr(), err)
	}
	return id
}

// busPort is the port at which other nodes reach the node.
func (n *Node) busPort(t testing.TB) string {
	t.Helper()
	settings, err := n.client.ConfigGet(t.Context(), "cluster-port").Result()
	if err == nil && settings["cluster-port"] == "" {
		err = errors.New("it has none")
	}
	if err != nil {
		t.Fatalf("asking %s for its bus port: %v", n.Addr(), err)
	}
	return settings["cluster-port"]
}
