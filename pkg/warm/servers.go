package warm

// Looking through every server of a cluster, also while slots move.

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// eachServer calls look for every server that holds keys of its own, for
// several at the same time.
//
// A key that moves between two servers may be missed by looking through both.
// So where a slot moved meanwhile everything is looked through once more:
// whatever has moved, has come to where it is by then, unless it moves again.
func (s *Store) eachServer(ctx context.Context, look func(ctx context.Context, server redis.Cmdable) error) error {
	cluster, ok := s.rdb.(*redis.ClusterClient)
	if !ok {
		return look(ctx, s.rdb)
	}
	all := func() error {
		return cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error { return look(ctx, master) })
	}
	before, settled := layout(ctx, cluster)
	if err := all(); err != nil {
		return err
	}
	if after, _ := layout(ctx, cluster); settled && slices.Equal(before, after) {
		return nil
	}
	return all()
}

// layout returns, of each master, its id, its epoch and the slots that it says
// to have, and tells whether they stay where they are.
func layout(ctx context.Context, cluster *redis.ClusterClient) (masters []string, settled bool) {
	var mu sync.Mutex
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		nodes, err := master.ClusterNodes(ctx).Result()
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		masters = append(masters, ownLine(nodes))
		return nil
	})
	slices.Sort(masters)
	// A slot on its way stands in brackets: [42->-id].
	moving := slices.ContainsFunc(masters, func(line string) bool { return strings.Contains(line, "[") })
	return masters, err == nil && !moving
}

// ownLine returns what CLUSTER NODES says of the node that was asked, without
// what changes all the time: "id addr flags master ping pong epoch link slot...".
func ownLine(nodes string) string {
	for line := range strings.Lines(nodes) {
		fields := strings.Fields(line)
		if len(fields) >= 8 && strings.Contains(fields[2], "myself") {
			return fields[0] + " " + strings.Join(fields[6:], " ")
		}
	}
	return ""
}
