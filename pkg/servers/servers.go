// Package servers looks through every server of a Redis that may be a cluster,
// for what no single key leads to.
//
// A key that moves between two servers may be missed by looking through both.
// So where a slot of a cluster moved meanwhile, everything is looked through
// once more: whatever has moved has come to where it is by then, unless it
// moves again. Who looks has to expect to see a thing twice.
package servers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// Look is what is done to a server that holds keys of its own.
type Look func(ctx context.Context, server redis.Cmdable) error

// Each looks through several servers at the same time, each at least once. It
// returns the first error of look or of the client.
func Each(ctx context.Context, rdb redis.UniversalClient, look Look) error {
	cluster, ok := rdb.(*redis.ClusterClient)
	if !ok {
		return look(ctx, rdb)
	}
	return untilSettled(ctx, cluster, func() error { return each(ctx, cluster, look) })
}

// InTurn is [Each] with one server after the other.
func InTurn(ctx context.Context, rdb redis.UniversalClient, look Look) error {
	cluster, ok := rdb.(*redis.ClusterClient)
	if !ok {
		return look(ctx, rdb)
	}
	return untilSettled(ctx, cluster, func() error {
		var mu sync.Mutex
		var masters []redis.Cmdable
		err := each(ctx, cluster, func(_ context.Context, master redis.Cmdable) error {
			mu.Lock()
			defer mu.Unlock()
			masters = append(masters, master)
			return nil
		})
		if err == nil && len(masters) == 0 {
			err = errors.New("the cluster has no master")
		}
		for _, master := range masters {
			if err == nil {
				err = look(ctx, master)
			}
		}
		return err
	})
}

func each(ctx context.Context, cluster *redis.ClusterClient, look Look) error {
	return cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error { return look(ctx, master) })
}

// untilSettled looks once, and once more unless all slots stayed where they
// were.
func untilSettled(ctx context.Context, cluster *redis.ClusterClient, look func() error) error {
	before, settled := layout(ctx, cluster)
	if err := look(); err != nil {
		return err
	}
	if after, _ := layout(ctx, cluster); settled && slices.Equal(before, after) {
		return nil
	}
	return look()
}

// layout returns, of each master, its id, its epoch and the slots that it says
// to have, and tells whether none of them is on its way.
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
