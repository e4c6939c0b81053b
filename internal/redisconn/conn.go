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
	"sync/atomic"
	"syscall"
	"time"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// writeChunk is how much is written before the deadline is set anew: a large
// value on a slow line makes progress in such steps.
const writeChunk = 128 << 10

// dialer opens connections to one target.
type dialer struct {
	target  Target
	timeout time.Duration
	sent    *atomic.Int64
	until   context.Context // all connections close when it ends
}

// dial connects and, where the target wants it, speaks TLS. Its errors are
// storeerr.Unavailable.
func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	by := time.Now().Add(d.timeout)
	ctx, cancel := context.WithDeadline(ctx, by)
	defer cancel()
	defer context.AfterFunc(d.until, cancel)()
	raw, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, dialError(addr, err)
	}
	// Closing is for good, where a deadline could be set anew.
	context.AfterFunc(d.until, func() { _ = raw.Close() })
	c := &conn{Conn: raw, addr: addr, idle: d.timeout, sent: d.sent, readyBy: by}
	if !d.target.TLS {
		if sys, ok := raw.(syscall.Conn); ok {
			return &plainConn{conn: c, Conn: sys}, nil
		}
		return c, nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = addr
	}
	secure := tls.Client(raw, &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12})
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = raw.Close() // the handshake's error says more
		return nil, tlsError(addr, err)
	}
	c.Conn = secure
	return c, nil
}

// conn is a connection to Redis as the client library uses it: one goroutine
// at a time. Besides the deadlines set on it, a read or write fails when idle
// passes without progress, and until the first command after the handshake
// everything together has to be done by readyBy.
type conn struct {
	net.Conn
	addr     string
	idle     time.Duration
	readyBy  time.Time
	sent     *atomic.Int64 // counts writes that carry commands, over all connections
	ready    bool          // a command has been sent
	answered bool          // the server has sent something
	readBy   time.Time     // the deadline set by the user of conn, or zero
	writeBy  time.Time
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
	if n > 0 {
		c.answered = true
	}
	if n == 0 && !c.answered && closedByPeer(err) {
		// No cause is kept: the client library would return it in place of this.
		return 0, storeerr.New(storeerr.Unavailable, "%s closed the connection before it answered", c.addr).
			WithHint("is it a Redis server, and does it want TLS (rediss://)?")
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	command := c.ready || !isHandshake(p)
	if command {
		c.ready = true
	}
	written := 0
	for written < len(p) {
		if err := c.Conn.SetWriteDeadline(c.deadline(c.writeBy)); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(p[written:min(written+writeChunk, len(p))])
		if n > 0 && command {
			c.sent.Add(1)
		}
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
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
	by := time.Now().Add(c.idle)
	if !c.ready && c.readyBy.Before(by) {
		by = c.readyBy
	}
	if !set.IsZero() && set.Before(by) {
		by = set
	}
	return by
}

// isHandshake reports whether p starts with a command that the client library
// sends by itself on a new connection. Such a write never carries others.
func isHandshake(p []byte) bool {
	fields := bytes.SplitN(p, []byte("\r\n"), 4)
	if len(fields) < 3 || len(fields[0]) == 0 || fields[0][0] != '*' {
		return false
	}
	switch string(bytes.ToUpper(fields[2])) {
	case "HELLO", "AUTH", "SELECT", "CLIENT", "READONLY":
		return true
	}
	return false
}

// closedByPeer reports whether err is the other side hanging up.
func closedByPeer(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
