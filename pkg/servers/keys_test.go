package servers_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/servers"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb := s.Client(t)
		_, err := rdb.Pipelined(t.Context(), func(p redis.Pipeliner) error {
			for i := range 3000 {
				p.Set(t.Context(), fmt.Sprintf("many:%d", i), "", 0)
			}
			for _, key := range []string{`a*[b]\:1`, `a*[b]\:`, `aXb:1`, `aX[b]\:1`, `a*b\:1`, `a*[b]\`, `a?c1`, `abc1`} {
				p.Set(t.Context(), key, "", 0)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for begin, want := range map[string]int{"many:": 3000, `a*[b]\:`: 2, "a?c": 1, "none": 0} {
			var found []string
			err := servers.Keys(t.Context(), rdb, begin, func(_ context.Context, keys []string) error {
				found = append(found, keys...)
				return nil
			})
			slices.Sort(found)
			if found = slices.Compact(found); err != nil || len(found) != want {
				t.Errorf("%q: %d keys, %v, want %d", begin, len(found), err, want)
			}
		}
		stop := errors.New("stop")
		if err := servers.Keys(t.Context(), rdb, "many:", func(context.Context, []string) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("the error of look came back as %v", err)
		}
	})
}

func TestKeysOfCluster(t *testing.T) {
	t.Parallel()
	cluster := testserver.StartCluster(t)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})
	t.Cleanup(func() { _ = c.Close() })
	for i := range 100 {
		if err := c.Set(t.Context(), fmt.Sprintf("key:%d", i), "", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	found := map[string]bool{}
	err := servers.Keys(t.Context(), c, "key:", func(_ context.Context, keys []string) error {
		for _, key := range keys {
			found[key] = true
		}
		return nil
	})
	if err != nil || len(found) != 100 {
		t.Errorf("found %d keys, %v, want 100", len(found), err)
	}
}
