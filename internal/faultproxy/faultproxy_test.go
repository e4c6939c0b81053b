// Tests of the proxy, in front of a server that answers each byte with two.
package faultproxy_test

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/faultproxy"
)

// doubler is a server that answers each byte with two of its kind, and keeps
// what it got until the client hangs up.
type doubler struct {
	net.Listener
	got chan string // of each connection, once it has ended
}

func startDoubler(t *testing.T) *doubler {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	d := &doubler{l, make(chan string, 10)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go d.serve(c)
		}
	}()
	return d
}

func (d *doubler) serve(c net.Conn) {
	defer c.Close()
	var got bytes.Buffer
	one := make([]byte, 1)
	for {
		if _, err := c.Read(one); err != nil {
			d.got <- got.String()
			return
		}
		got.Write(one)
		_, _ = c.Write(bytes.Repeat(one, 2))
	}
}

// talk says "abc", byte for byte with the answers between, hangs up at the
// first answer that is short, and returns the answers.
func talk(t *testing.T, addr string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var said bytes.Buffer
	for _, b := range []byte("abc") {
		if _, err := c.Write([]byte{b}); err != nil {
			break
		}
		if _, err := io.CopyN(&said, c, 2); err != nil {
			break
		}
	}
	return said.String()
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fault  faultproxy.Fault
		server string // what reaches the server
		client string // what reaches the client
	}{
		{faultproxy.Fault{Stream: faultproxy.Request, At: 0, Action: faultproxy.Cut}, "", ""},
		{faultproxy.Fault{Stream: faultproxy.Request, At: 9, Action: faultproxy.Cut}, "abc", "aabbcc"},
		{faultproxy.Fault{Stream: faultproxy.Reply, At: 3, Action: faultproxy.Cut}, "ab", "aab"},
		{faultproxy.Fault{Stream: faultproxy.Request, At: 1, Action: faultproxy.Truncate}, "a", "aa"},
		{faultproxy.Fault{Stream: faultproxy.Reply, At: 1, Action: faultproxy.Truncate}, "a", "a"},
		{faultproxy.Fault{Connection: 2, Stream: faultproxy.Reply, At: 1, Action: faultproxy.Cut}, "abc", "aabbcc"},
	} {
		t.Run(test.fault.String(), func(t *testing.T) {
			t.Parallel()
			d := startDoubler(t)
			p, err := faultproxy.Start("tcp", d.Addr().String(), test.fault)
			if err != nil {
				t.Fatal(err)
			}
			if got := talk(t, p.Addr()); got != test.client {
				t.Errorf("the client got %q, want %q", got, test.client)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			if got := <-d.got; got != test.server {
				t.Errorf("the server got %q, want %q", got, test.server)
			}
			if got := p.Carried(1, faultproxy.Request); got != int64(len(test.server)) || p.Connections() != 1 {
				t.Errorf("%d bytes of %d connections were carried, want %d of 1", got, p.Connections(), len(test.server))
			}
		})
	}
}

func TestConnectionsAreCounted(t *testing.T) {
	t.Parallel()
	d := startDoubler(t)
	p, err := faultproxy.Start("tcp", d.Addr().String(),
		faultproxy.Fault{Connection: 2, Stream: faultproxy.Reply, At: 5, Action: faultproxy.Truncate})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"aabbcc", "aabbc", "aabbcc"} {
		if got := talk(t, p.Addr()); got != want {
			t.Errorf("connection %d: the client got %q, want %q", i+1, got, want)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if got := p.Connections(); got != 3 {
		t.Errorf("Connections() = %d, want 3", got)
	}
}

func TestDelayAndBlackhole(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	for action, want := range map[faultproxy.Action]string{faultproxy.Delay: "ab", faultproxy.Blackhole: "a"} {
		d := startDoubler(t)
		p, err := faultproxy.Start("tcp", d.Addr().String(),
			faultproxy.Fault{Stream: faultproxy.Request, At: 1, Action: action, Release: release})
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("tcp", p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("ab")); err != nil {
			t.Error(err)
		}
		first := make([]byte, 2)
		if _, err := io.ReadFull(c, first); err != nil || string(first) != "aa" {
			t.Errorf("%v: the client got %q, %v", action, first, err)
		}
		c.Close()
		if action == faultproxy.Delay {
			close(release)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if got := <-d.got; got != want {
			t.Errorf("%v: the server got %q, want %q", action, got, want)
		}
	}
}

func TestTogether(t *testing.T) {
	t.Parallel()
	d := startDoubler(t)
	p, err := faultproxy.Start("tcp", d.Addr().String(),
		faultproxy.Fault{Connection: faultproxy.Together, Stream: faultproxy.Request, At: 5, Action: faultproxy.Blackhole})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"abc", "ab", ""} {
		c, err := net.Dial("tcp", p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("abc")); err != nil {
			t.Error(err)
		}
		c.Close()
		if got := <-d.got; got != want {
			t.Errorf("the server got %q, want %q", got, want)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if got := p.CarriedTogether(faultproxy.Request); got != 5 {
		t.Errorf("%d bytes were carried, want 5", got)
	}
}
