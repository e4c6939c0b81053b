// Tests of filling a server's script cache.
package luascripts_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
)

// In a cluster each primary knows the scripts.
func TestLoadCluster(t *testing.T) {
	t.Parallel()
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: testserver.StartCluster(t).Addrs(), DisableRoutingPolicies: true})
	t.Cleanup(func() { _ = client.Close() })
	if err := luascripts.Load(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	err := client.ForEachMaster(t.Context(), func(_ context.Context, node *redis.Client) error {
		for _, s := range luascripts.All() {
			if known, err := node.ScriptExists(t.Context(), s.SHA1).Result(); err != nil || !known[0] {
				t.Errorf("%s does not know %s: %v", node, s.Name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
