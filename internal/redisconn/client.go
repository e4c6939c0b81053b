// Opening a client: how go-redis is set up for a command line that must never
// do a thing twice.

package redisconn

import (
	"context"
	"io"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// poolSize bounds the connections to one server: enough for the few requests
// that a bulk command keeps in flight.
const poolSize = 8

// Options say how to reach a server.
type Options struct {
	Target  Target
	Timeout time.Duration // bounds connecting, and each wait for progress; above zero
	Trace   io.Writer     // gets a line for each command, or nil
	// Until, unless nil, closes every connection when it ends, commands under
	// way or not, and lets none be opened any more. The client library notices
	// the end of a command's own context only between sending and receiving.
	Until context.Context
	// Carried, unless nil, is told of bytes that went either way on any
	// connection. It is called by several goroutines.
	Carried func(bytes int)
}

// Open returns a client that dials when its first command is run: a
// [*redis.ClusterClient] for a cluster, which reads from primaries only, else a
// [*redis.Client].
//
// Each write is sent at most once; a cluster's answer that another node holds
// the key is followed, because nothing was applied then. Commands that only
// read are tried again while it may help, within their context's deadline or
// else Timeout, and within one second as long as no server ever answered.
//
// A command that fails before any of it was sent fails with an error that is
// storeerr.Unavailable, or marked [storeerr.NotSent], so that no caller takes
// it for a lost answer. The deadline of a command's context is obeyed; besides
// it, a command fails when Timeout passes without a byte sent or received.
//
// Open itself fails, with storeerr.Invalid, for settings that cannot work and
// for certificates that it cannot read.
func Open(o Options) (redis.UniversalClient, error) {
	if err := o.Target.check(); err != nil {
		return nil, err
	}
	link, err := newLink(o)
	if err != nil {
		return nil, err
	}
	// What the client library logs is either returned as an error too or of no
	// use to the reader. Its logger is global to the process, and so is this choice.
	logging.Disable()
	var trace *tracer
	if o.Trace != nil {
		trace = &tracer{out: o.Trace}
	}
	switch {
	case o.Target.Cluster:
		return openCluster(o, link, trace), nil
	case o.Target.Sentinel != nil:
		return openFailover(o, link, trace), nil
	}
	options := o.universal().Simple()
	dialer := &dialer{link: link}
	options.Network, options.Dialer = o.Target.Network, dialer.dial
	client := redis.NewClient(options)
	client.AddHook(&retrier{link: link})
	addHooks(client, o.Target.Addr, dialer, trace)
	client.AddHook(helloHook{addr: o.Target.Addr})
	return client, nil
}

// addHooks adds what every client of one server needs, whatever is above it.
func addHooks(client *redis.Client, addr string, dialer *dialer, trace *tracer) {
	if trace != nil {
		client.AddHook(trace)
	}
	client.AddHook(&sentHook{addr: addr, sent: &dialer.sent})
}

// check refuses what cannot work, before anything is read or dialed.
func (t Target) check() error {
	switch {
	case t.Embedded != "":
		return storeerr.New(storeerr.Invalid, "an embedded server has no address to connect to")
	case t.Cluster && t.Sentinel != nil:
		return storeerr.New(storeerr.Invalid, "a cluster needs no Sentinels").WithHint("give --cluster or --sentinel-master, not both")
	case t.Cluster && t.DB != nil && *t.DB != 0:
		return storeerr.New(storeerr.Invalid, "a cluster has only the database 0, not %d", *t.DB).WithHint("leave out --db")
	case t.Network == "unix" && (t.Cluster || t.Sentinel != nil):
		return storeerr.New(storeerr.Invalid, "a cluster and Sentinels are reached by host and port, not by a Unix socket")
	case t.Network == "unix" && t.TLS != nil:
		return storeerr.New(storeerr.Invalid, "Redis speaks no TLS on a Unix socket").WithHint("leave out --tls")
	case len(t.Others) > 0 && !t.Cluster && t.Sentinel == nil:
		return storeerr.New(storeerr.Invalid, "%d servers are named, and one is asked for", len(t.Others)+1).
			WithHint("several are the nodes of a --cluster, or the Sentinels of a --sentinel-master")
	case t.Username != "" && t.Username != "default" && t.Password == "":
		// Without a password the client signs in as nobody, and the server
		// takes it for its default user.
		return storeerr.New(storeerr.Invalid, "the user %q has no password", t.Username).
			WithHint("set KEYSPACECTL_PASSWORD or --password-file; for a user that needs none, any text does")
	case t.Sentinel != nil && t.Sentinel.Username != "" && t.Sentinel.Password == "":
		return storeerr.New(storeerr.Invalid, "the Sentinels' user %q has no password", t.Sentinel.Username).
			WithHint("set KEYSPACECTL_SENTINEL_PASSWORD or --sentinel-password-file; for a user that needs none, any text does")
	}
	return nil
}

// universal returns what the clients of all shapes have in common.
func (o Options) universal() *redis.UniversalOptions {
	t := o.Target
	options := &redis.UniversalOptions{
		Addrs:    append([]string{t.Addr}, t.Others...),
		Username: t.Username,
		Password: t.Password,

		Protocol:   3,  // falls back to 2 where HELLO is refused
		MaxRetries: -1, // a write that may have been applied is not sent again

		DialTimeout:           o.Timeout,
		DialerRetries:         1,
		ReadTimeout:           -1, // left to conn, which counts from the last byte
		WriteTimeout:          -1,
		ContextTimeoutEnabled: true,

		PoolSize:         poolSize,
		PoolTimeout:      o.Timeout,
		PipelinePoolSize: -1, // pipelines use the connection there is

		DisableIdentity:          true, // no CLIENT SETINFO
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if t.DB != nil {
		options.DB = *t.DB
	}
	if s := t.Sentinel; s != nil {
		options.MasterName, options.SentinelUsername, options.SentinelPassword = s.Master, s.Username, s.Password
	}
	return options
}
