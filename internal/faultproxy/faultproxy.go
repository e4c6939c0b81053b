// Package faultproxy is a proxy between a client and a server that, at a given
// byte of a given connection, lets the network fail. Only tests import it.
//
// What passes through is known to the byte, so that a test can let each run of
// a command fail at another point, and knows when the server has done all that
// reached it.
package faultproxy

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
)

// Stream is one direction of a connection.
type Stream int

// The streams.
const (
	Request Stream = iota // from the client to the server
	Reply                 // from the server to the client
)

// String names the stream.
func (s Stream) String() string { return [...]string{"request", "reply"}[s] }

// Action is what happens to a stream.
type Action int

// The actions.
const (
	// Cut closes the connection for the client, and for the server as soon as
	// that has answered what reached it.
	Cut Action = iota
	// Truncate ends the one stream and leaves the other one as it is.
	Truncate
	// Delay holds the rest of the stream back until the fault is released. It
	// passes then, even if the client has left.
	Delay
	// Blackhole swallows the rest of the stream, and nobody is told.
	Blackhole
)

// String names the action.
func (a Action) String() string { return [...]string{"cut", "truncate", "delay", "blackhole"}[a] }

// Fault is what goes wrong once a stream has carried At bytes. It is not
// noticed when the stream carries fewer.
type Fault struct {
	Connection int // the number of the connection, from 1 on, 0 for each of them, or Together
	Stream     Stream
	At         int64
	Action     Action
	Release    <-chan struct{} // closed by the test to end a Delay
}

// Together is the Connection of a fault that counts the bytes of all
// connections as one stream. It is for Blackhole alone.
const Together = -1

// String says what happens where.
func (f Fault) String() string {
	which := "each connection"
	if f.Connection == Together {
		which = "all connections together"
	}
	if f.Connection > 0 {
		which = fmt.Sprintf("connection %d", f.Connection)
	}
	return fmt.Sprintf("%s at byte %d of the %s of %s", f.Action, f.At, f.Stream, which)
}

// Proxy is a running proxy.
type Proxy struct {
	network, addr string // the server
	faults        []Fault
	listener      net.Listener
	closed        chan struct{}
	running       sync.WaitGroup
	left          []atomic.Int64 // what is left of At, for faults that count together

	mu    sync.Mutex
	links []*link // in the order of their connections
}

// Start starts a proxy on a port of 127.0.0.1, in front of the server at an
// address ("tcp" or "unix").
func Start(network, addr string, faults ...Fault) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{network: network, addr: addr, faults: faults, listener: l, closed: make(chan struct{}), left: make([]atomic.Int64, len(faults))}
	for i, f := range faults {
		p.left[i].Store(f.At)
	}
	p.running.Go(p.accept)
	return p, nil
}

// Addr returns the host:port at which the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Connections returns how many connections there have been.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Carried returns how many bytes a stream of a connection, counted from 1, has
// passed on. It is 0 for a connection that has not been.
func (p *Proxy) Carried(connection int, s Stream) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if connection > len(p.links) {
		return 0
	}
	return p.links[connection-1].carried[s].Load()
}

// CarriedTogether is what a stream of all connections has passed on.
func (p *Proxy) CarriedTogether(s Stream) (bytes int64) {
	for i := range p.Connections() {
		bytes += p.Carried(i+1, s)
	}
	return bytes
}

// Close takes no more connections, and returns when those that there were have
// ended: the client has left, and the server has done all that reached it.
// Faults that delay have to be released before.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.running.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := net.Dial(p.network, p.addr)
		if err != nil {
			_ = client.Close() // as the server does it
			continue
		}
		p.mu.Lock()
		l := &link{client: client.(halfCloser), server: server.(halfCloser), number: len(p.links) + 1}
		p.links = append(p.links, l)
		p.mu.Unlock()
		p.running.Go(func() { l.run(p.faults, p.left) })
	}
}
