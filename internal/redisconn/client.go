// Opening a client: how go-redis is set up for a command line that must never
// do a thing twice.

package redisconn

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// poolSize bounds the connections of a client: enough for the few requests
// that a bulk command keeps in flight.
const poolSize = 8

// Options say how to reach a server.
type Options struct {
	Target  Target
	Timeout time.Duration // bounds dialing, the handshake, and each wait for progress; above zero
	Trace   io.Writer     // gets a line for each command, or nil
	// Until, unless nil, closes every connection when it ends, commands under
	// way or not, and lets none be opened any more. The client library notices
	// the end of a command's own context only between sending and receiving.
	Until context.Context
}

// Open returns a client that dials when its first command is run.
//
// Each command is sent at most once. One that fails before any of it was sent
// fails with an error that is storeerr.Unavailable, or marked
// [storeerr.NotSent], so that no caller takes it for a lost answer. The
// deadline of a command's context is obeyed; besides it, a command fails when
// Timeout passes without a byte sent or received.
//
// Open itself fails, with storeerr.Invalid, for an embedded target and for a
// user name without a password.
func Open(o Options) (redis.UniversalClient, error) {
	t := o.Target
	switch {
	case t.Embedded != "":
		return nil, storeerr.New(storeerr.Invalid, "an embedded server has no address to connect to")
	case t.Username != "" && t.Username != "default" && t.Password == "":
		// Without a password the client signs in as nobody, and the server
		// takes it for its default user.
		return nil, storeerr.New(storeerr.Invalid, "the user %q has no password", t.Username).
			WithHint("set KEYSPACECTL_PASSWORD or --password-file; for a user that needs none, any text does")
	}
	// What the client library logs is either returned as an error too or of no
	// use to the reader. Its logger is global to the process, and so is this choice.
	logging.Disable()

	var sent atomic.Int64
	dialer := &dialer{target: t, timeout: o.Timeout, sent: &sent, until: o.Until}
	if o.Until == nil {
		dialer.until = context.Background()
	}
	opt := &redis.Options{
		Network:  t.Network,
		Addr:     t.Addr,
		Dialer:   dialer.dial,
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
		opt.DB = *t.DB
	}
	client := redis.NewClient(opt)
	if o.Trace != nil {
		client.AddHook(&tracer{out: o.Trace})
	}
	client.AddHook(&sentHook{addr: t.Addr, sent: &sent})
	return client, nil
}
