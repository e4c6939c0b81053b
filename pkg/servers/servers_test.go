// Tests of looking through servers: a single one, and a cluster that changes.
package servers_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/servers"
)

// ways are the functions under test.
var ways = map[string]func(context.Context, redis.UniversalClient, servers.Look) error{
	"Each": servers.Each, "InTurn": servers.InTurn,
}

func TestSingleServer(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		for name, way := range ways {
			looks, failure := 0, errors.New("failure")
			err := way(t.Context(), s.Client(t), func(ctx context.Context, server redis.Cmdable) error {
				looks++
				return errors.Join(server.Ping(ctx).Err(), failure)
			})
			if looks != 1 || !errors.Is(err, failure) {
				t.Errorf("%s looked %d times: %v", name, looks, err)
			}
		}
	})
}

func TestCluster(t *testing.T) {
	t.Parallel()
	cluster := testserver.StartCluster(t)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})
	t.Cleanup(func() { _ = c.Close() })
	slot := 0
	for name, way := range ways {
		count := func(during func()) int64 {
			var looks atomic.Int64
			err := way(t.Context(), c, func(context.Context, redis.Cmdable) error {
				if looks.Add(1) == 1 {
					during()
				}
				return nil
			})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return looks.Load()
		}
		if got := count(func() {}); got != 3 {
			t.Errorf("%s looked %d times at 3 masters", name, got)
		}
		if got := count(func() { cluster.MigrateSlot(t, slot, 0, 1) }); got != 6 {
			t.Errorf("%s looked %d times while a slot moved, want twice at 3 masters", name, got)
		}
		slot++
		move := cluster.BeginMigration(t, slot, 0, 1)
		if got := count(func() {}); got != 6 {
			t.Errorf("%s looked %d times while a slot was on its way, want twice at 3 masters", name, got)
		}
		move.Finish(t)
		slot++
	}
}
