// One connection through the proxy, and what happens to it.

package faultproxy

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// halfCloser is a connection of which one direction can end before the other.
type halfCloser interface {
	net.Conn
	CloseWrite() error
}

// link is a connection of a client with the one to the server behind it.
//
// Errors of reading and writing count as the end of a stream: a proxy has
// nobody to tell.
type link struct {
	number  int
	client  halfCloser
	server  halfCloser
	carried [2]atomic.Int64 // bytes passed on, by Stream
}

// errCut ends a stream, and the other one with it.
var errCut = errors.New("cut")

// run carries both streams until they have ended.
func (l *link) run(faults []Fault, left []atomic.Int64) {
	var both sync.WaitGroup
	both.Go(func() {
		if errors.Is(l.carry(Request, faults, left), errCut) {
			_ = l.client.Close()
		}
		// The server reads what reached it, answers, and then hangs up, which
		// ends the other stream.
		_ = l.server.CloseWrite()
	})
	both.Go(func() {
		if errors.Is(l.carry(Reply, faults, left), errCut) {
			_ = l.client.Close()
		} else {
			_ = l.client.CloseWrite()
		}
		// What the client does not hear of, the server does nevertheless.
		_, _ = io.Copy(io.Discard, l.server)
	})
	both.Wait()
	_ = l.client.Close()
	_ = l.server.Close()
}

// carry passes a stream on, with its first fault, until it ends.
func (l *link) carry(s Stream, faults []Fault, left []atomic.Int64) error {
	from, to := net.Conn(l.client), net.Conn(l.server)
	if s == Reply {
		from, to = to, from
	}
	counted := &counter{Conn: to, bytes: &l.carried[s]}
	for i, f := range faults {
		if f.Stream != s || f.Connection > 0 && f.Connection != l.number {
			continue
		}
		if f.Connection == Together {
			counted.left = &left[i]
			break
		}
		if _, err := io.CopyN(counted, from, f.At); err != nil {
			return err
		}
		return f.happen(counted, from)
	}
	_, err := io.Copy(counted, from)
	return err
}

// happen does to the rest of a stream what the fault is.
func (f Fault) happen(to io.Writer, from io.Reader) error {
	switch f.Action {
	case Cut:
		return errCut
	case Delay:
		<-f.Release
		_, err := io.Copy(to, from)
		return err
	case Blackhole:
		_, err := io.Copy(io.Discard, from)
		return err
	}
	return nil
}

// counter counts what is written.
type counter struct {
	net.Conn
	bytes *atomic.Int64
	left  *atomic.Int64 // what may be written still, or nil; the rest is swallowed
}

func (c *counter) Write(p []byte) (int, error) {
	taken := p
	if c.left != nil {
		left := c.left.Add(-int64(len(p))) + int64(len(p))
		taken = p[:max(0, min(left, int64(len(p))))]
	}
	n, err := c.Conn.Write(taken)
	c.bytes.Add(int64(n))
	if err == nil {
		n = len(p)
	}
	return n, err
}
