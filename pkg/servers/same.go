package servers

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Same reports whether two clients reach the same server, or clusters that
// share one, by whatever addresses. It goes by the run id that a server tells
// in INFO; one that tells none, or may not, is taken for another one.
func Same(ctx context.Context, one, other redis.UniversalClient) (bool, error) {
	ids, err := RunIDs(ctx, one)
	if err != nil || len(ids) == 0 {
		return false, err
	}
	others, err := RunIDs(ctx, other)
	return slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(others, id) }), err
}

// RunIDs returns the run id of each server that tells its own. One that is
// started again, or that takes the place of another, has another one.
func RunIDs(ctx context.Context, rdb redis.UniversalClient) ([]string, error) {
	var mu sync.Mutex
	var ids []string
	err := Each(ctx, rdb, func(ctx context.Context, server redis.Cmdable) error {
		info, err := server.Info(ctx, "server").Result()
		if redis.HasErrorPrefix(err, "NOPERM") {
			return nil
		}
		for line := range strings.Lines(info) {
			if id, ok := strings.CutPrefix(strings.TrimSpace(line), "run_id:"); ok && id != "" {
				mu.Lock()
				ids = append(ids, id)
				mu.Unlock()
			}
		}
		return err
	})
	return ids, storeerr.FromRedis(err, storeerr.Reads, "asking the server who it is")
}
