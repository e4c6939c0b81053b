// Checking that the server is of the kind asked for, by its answer to HELLO.

package redisconn

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// helloHook fails the handshake with a node of a cluster or a Sentinel that is
// taken for a server that stands alone. Against a node everything would seem
// well until a key belongs to another one. A server that answers no HELLO says
// so when it comes to that.
type helloHook struct {
	addr    string
	cluster bool
}

func (h helloHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h helloHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (h helloHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		hello, ok := cmd.(*redis.MapStringInterfaceCmd)
		if err != nil || !ok || cmd.Name() != "hello" {
			return err
		}
		switch mode := hello.Val()["mode"]; {
		case mode == "cluster" && !h.cluster:
			return storeerr.New(storeerr.Invalid, "%s is a node of a Redis Cluster", h.addr).WithHint("add --cluster")
		case mode == "sentinel":
			return storeerr.New(storeerr.Invalid, "%s is a Sentinel", h.addr).
				WithHint("name the primary that it watches with --sentinel-master")
		}
		return nil
	}
}
