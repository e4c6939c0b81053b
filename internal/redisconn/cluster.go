// A Redis Cluster: a client of each node behind one client that finds the way.

package redisconn

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// maxRedirects is how often a command follows a slot that moves.
const maxRedirects = 8

// openCluster returns a client of a cluster.
func openCluster(o Options, link *link, trace *tracer) *redis.ClusterClient {
	options := o.universal().Cluster()
	options.MaxRedirects = maxRedirects
	// Commands go by their keys and nothing else: policies would spread some
	// over all nodes, and hide from the hooks what was sent where.
	options.DisableRoutingPolicies = true
	options.NewClient = func(node *redis.Options) *redis.Client {
		dialer := &dialer{link: link}
		node.Dialer = dialer.dial
		client := redis.NewClient(node)
		// For those who ask a node itself; commands of the cluster's client
		// are tried again by that, so that they may go to another node.
		client.AddHook(&retrier{link: link})
		addHooks(client, node.Addr, dialer, trace)
		client.AddHook(helloHook{addr: node.Addr, cluster: true})
		return client
	}
	client := redis.NewClusterClient(options)
	// A node that is gone is not asked for until something else learns of it.
	client.AddHook(&retrier{link: link, failed: client.ReloadState})
	client.AddHook(clusterHook{})
	return client
}

// clusterHook keeps the cluster's client from sending anything again after a
// failure of the network, as it does to find a node that answers. MOVED and ASK
// it still follows.
type clusterHook struct{}

// once is a command that is not sent again by the client library.
type once struct{ redis.Cmder }

// NoRetry tells the client library so.
func (once) NoRetry() bool { return true }

func (clusterHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (clusterHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { return lost(next(ctx, once{cmd})) }
}

func (clusterHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		guarded := make([]redis.Cmder, len(cmds))
		for i, cmd := range cmds {
			guarded[i] = once{cmd}
		}
		err := lost(next(ctx, guarded))
		for _, cmd := range cmds {
			cmd.SetErr(lost(cmd.Err()))
		}
		return err
	}
}

// lost names the failure of a command that found no node to run on.
func lost(err error) error {
	switch {
	case err == nil:
		return nil
	case redis.HasErrorPrefix(err, "MOVED "), redis.HasErrorPrefix(err, "ASK "):
		return storeerr.New(storeerr.Unavailable, "the nodes of the cluster keep sending the command to one another: %s", err).
			WithHint("try again; see CLUSTER NODES on each")
	case errors.Is(err, redis.ErrClosed):
		return storeerr.NotSent(err)
	}
	return err
}
