// A primary watched by Sentinels: asked for anew for each connection, so that
// a failover is followed.

package redisconn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// openFailover returns a client of the primary that the Sentinels name.
func openFailover(o Options, link *link, trace *tracer) *redis.Client {
	options := o.universal().Failover()
	dialer := &dialer{link: link}
	options.Dialer = dialer.dial
	client := redis.NewFailoverClient(options)
	client.AddHook(&retrier{link: link})
	name := fmt.Sprintf("the primary %q", o.Target.Sentinel.Master)
	addHooks(client, name, dialer, trace)
	client.AddHook(helloHook{addr: name})
	client.AddHook(sentinelHook{master: o.Target.Sentinel.Master})
	return client
}

// sentinelHook names why there is no connection to the primary. An answer of a
// Sentinel must not pass for an answer to the command.
type sentinelHook struct{ master string }

func (h sentinelHook) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := next(ctx, network, addr)
		if err != nil {
			err = h.name(err)
		}
		return conn, err
	}
}

func (sentinelHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (sentinelHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// name finds in what the Sentinels said the error that says most. Other errors
// are those of the primary's own connection.
func (h sentinelHook) name(err error) error {
	said := joined(err)
	if said == nil || errors.Is(err, context.Canceled) {
		return err
	}
	var reasons []string
	unknown := false
	for _, err := range said {
		reply, answered := errors.AsType[redis.Error](err)
		switch {
		case errors.Is(err, redis.Nil):
			unknown = true
		case answered && (strings.Contains(reply.Error(), "NOAUTH") || strings.Contains(reply.Error(), "WRONGPASS")):
			return storeerr.New(storeerr.Denied, "a Sentinel refuses to be asked: %s", reply).
				WithHint("set KEYSPACECTL_SENTINEL_PASSWORD or --sentinel-password-file, and --sentinel-username for an ACL user")
		case answered && strings.Contains(reply.Error(), "unknown command"):
			return storeerr.New(storeerr.Invalid, "a server that was named is no Sentinel: %s", reply).
				WithHint("with --sentinel-master the addresses are those of the Sentinels")
		case storeerr.KindOf(err) == storeerr.Failed:
			reasons = append(reasons, reason(err))
		case storeerr.KindOf(err) != storeerr.Unavailable:
			return err
		default:
			reasons = append(reasons, err.Error())
		}
	}
	if unknown {
		return storeerr.New(storeerr.Invalid, "the Sentinels watch no primary named %q", h.master).
			WithHint("SENTINEL MASTERS on one of them lists the names")
	}
	slices.Sort(reasons)
	failed := storeerr.New(storeerr.Unavailable, "no Sentinel says where the primary %q is: %s",
		h.master, strings.Join(slices.Compact(reasons), "; "))
	failed.Hint = storeerr.HintOf(said[0])
	return failed
}

// joined returns the errors that were joined to err, or nil.
func joined(err error) []error {
	for ; err != nil; err = errors.Unwrap(err) {
		if join, ok := err.(interface{ Unwrap() []error }); ok {
			return join.Unwrap()
		}
	}
	return nil
}
