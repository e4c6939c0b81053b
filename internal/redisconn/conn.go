// The connection under the client: it counts what is sent, and a peer that
// makes no progress ends it.

package redisconn

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// writeChunk is how much is written before the deadline is set anew: a large
// value on a slow line makes progress in such steps.
const writeChunk = 128 << 10

// link is what all connections of a client know together.
type link struct {
	timeout  time.Duration
	until    context.Context // all connections close when it ends
	tls      *tls.Config     // or nil
	carried  func(bytes int)
	first    func() time.Time // when the first command has to be under way
	answered atomic.Bool      // a server has sent something
	ready    atomic.Bool      // a command has been sent
}

func newLink(o Options) (*link, error) {
	l := &link{timeout: o.Timeout, until: o.Until, carried: o.Carried}
	if l.carried == nil {
		l.carried = func(int) {}
	}
	if l.until == nil {
		l.until = context.Background()
	}
	l.first = sync.OnceValue(func() time.Time { return time.Now().Add(o.Timeout) })
	if o.Target.TLS == nil {
		return l, nil
	}
	var err error
	l.tls, err = o.Target.TLS.config()
	return l, err
}

// readyBy is when a connection opened now has to be ready for commands. Until
// the first is, all attempts of a client share one limit, however many servers
// it asks in turn.
func (l *link) readyBy() time.Time {
	first, by := l.first(), time.Now().Add(l.timeout)
	if !l.ready.Load() && first.Before(by) {
		return first
	}
	return by
}

// dialer opens connections whose commands are counted together.
type dialer struct {
	*link
	sent atomic.Int64 // writes that carried commands
}

// dial connects and, where the target wants it, speaks TLS. Its errors are
// storeerr.Unavailable or, when the server wants another client certificate,
// storeerr.Denied.
func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	by := d.readyBy()
	ctx, cancel := context.WithDeadline(ctx, by)
	defer cancel()
	defer context.AfterFunc(d.until, cancel)()
	raw, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, dialError(addr, err)
	}
	// Closing is for good, where a deadline could be set anew.
	context.AfterFunc(d.until, func() { _ = raw.Close() })
	c := &conn{Conn: raw, dialer: d, addr: addr, idle: d.timeout, readyBy: by}
	if d.tls == nil {
		if sys, ok := raw.(syscall.Conn); ok {
			return &plainConn{conn: c, Conn: sys}, nil
		}
		return c, nil
	}
	config := secure(d.tls, addr, &c.certWanted)
	c.certGiven = len(config.Certificates) > 0
	secured := tls.Client(raw, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = raw.Close() // the handshake's error says more
		if c.certWanted && refused(err) {
			return nil, certificateError(addr, c.certGiven, err)
		}
		return nil, handshakeError(addr, err)
	}
	c.Conn = secured
	return c, nil
}

// stage is how far a connection has come. What the client library sends by
// itself, for the handshake and then to find its way, is no command that could
// be lost, and is written apart from commands.
type stage int

const (
	handshaking stage = iota
	asking            // for the nodes of a cluster, or the primary
	ready             // a command has been sent
)

// conn is a connection to Redis as the client library uses it: one goroutine
// at a time. Besides the deadlines set on it, a read or write fails when idle
// passes without progress, and the handshake as a whole has to be done by
// readyBy.
type conn struct {
	net.Conn
	*dialer
	addr       string
	idle       time.Duration // or 0 for a connection that waits for messages
	readyBy    time.Time
	stage      stage
	answered   bool      // the server has sent something
	certWanted bool      // the server asked for a client certificate
	certGiven  bool      // and there was one
	readBy     time.Time // the deadline set by the user of conn, or zero
	writeBy    time.Time
}

// plainConn lets the client library look at the socket, so that it notices a
// connection that was closed while idle before it sends a command there. With
// TLS the socket tells nothing of the stream.
type plainConn struct {
	*conn
	syscall.Conn
}

func (c *conn) Read(p []byte) (int, error) {
	if err := c.Conn.SetReadDeadline(c.deadline(c.readBy)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	c.carried(n)
	switch {
	case n > 0:
		c.answered = true
		c.link.answered.Store(true)
	case c.answered || !refused(err):
	case c.certWanted:
		return 0, certificateError(c.addr, c.certGiven, err)
	default:
		// No cause is kept: the client library would return it in place of this.
		return 0, storeerr.New(storeerr.Unavailable, "%s closed the connection before it answered", c.addr).
			WithHint("is it a Redis server, and does it want TLS (rediss://)?")
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	c.advance(p)
	written := 0
	for written < len(p) {
		if err := c.Conn.SetWriteDeadline(c.deadline(c.writeBy)); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(p[written:min(written+writeChunk, len(p))])
		if n > 0 && c.stage == ready {
			c.sent.Add(1)
		}
		c.carried(n)
		written += n
		if err != nil {
			return written, c.farewell(err)
		}
	}
	return written, nil
}

// advance takes note of what is about to be written. Past the first command
// all is commands: later writes may start in the midst of a value.
func (c *conn) advance(p []byte) {
	if c.stage == ready {
		return
	}
	switch name := commandName(p); name {
	case "HELLO", "AUTH", "SELECT", "CLIENT", "READONLY":
	case "CLUSTER", "SENTINEL", "SUBSCRIBE":
		c.stage = asking
		if name == "SUBSCRIBE" {
			c.idle = 0
		}
	default:
		c.stage = ready
		c.link.ready.Store(true)
	}
}

// farewell returns what a server said before it hung up on err, if anything.
func (c *conn) farewell(err error) error {
	if c.answered || !closedByPeer(err) {
		return err
	}
	if _, last := c.Read(make([]byte, 1)); last != nil {
		return last
	}
	return err
}

func (c *conn) SetDeadline(t time.Time) error {
	c.readBy, c.writeBy = t, t
	return c.Conn.SetDeadline(t)
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.readBy = t
	return c.Conn.SetReadDeadline(t)
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.writeBy = t
	return c.Conn.SetWriteDeadline(t)
}

// deadline is when the next read or write fails: by the deadline that was set,
// for want of progress, or because the handshake takes too long.
func (c *conn) deadline(set time.Time) time.Time {
	var by time.Time
	if c.idle > 0 {
		by = time.Now().Add(c.idle)
	}
	if c.stage == handshaking && (by.IsZero() || c.readyBy.Before(by)) {
		by = c.readyBy
	}
	if !set.IsZero() && (by.IsZero() || set.Before(by)) {
		by = set
	}
	return by
}

// commandName returns the name of the first command in p, in capitals.
func commandName(p []byte) string {
	fields := bytes.SplitN(p, []byte("\r\n"), 4)
	if len(fields) < 3 || len(fields[0]) == 0 || fields[0][0] != '*' {
		return ""
	}
	return string(bytes.ToUpper(fields[2]))
}

// closedByPeer reports whether err is the other side hanging up.
func closedByPeer(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// refused reports whether err is the other side hanging up, with a TLS alert
// or without.
func refused(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error" || closedByPeer(err)
}
