// Servers for the tests: a real one, and listeners that misbehave.
package redisconn_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/redisconn"
	"github.com/keyspacectl/keyspacectl/internal/testserver"
)

// patience is the timeout of clients that are meant to get an answer.
const patience = time.Minute

// impatience is the timeout of clients that are meant to wait in vain.
const impatience = 500 * time.Millisecond

// startRedis starts a redis-server on a Unix socket and returns the socket.
func startRedis(t *testing.T) string {
	t.Helper()
	return strings.TrimPrefix(testserver.Real(t).URL, "unix://")
}

// open returns a client of a target.
func open(t *testing.T, o redisconn.Options) redis.UniversalClient {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = patience
	}
	client, err := redisconn.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// openURL returns a client of a URL.
func openURL(t *testing.T, url string) redis.UniversalClient {
	t.Helper()
	target, err := redisconn.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	return open(t, redisconn.Options{Target: target})
}

// listen serves each connection with handle and returns the target. The
// connections are closed when handle returns and when the test ends.
func listen(t *testing.T, handle func(net.Conn)) redisconn.Target {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		_ = l.Close()
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(ctx, func() { _ = c.Close() })
			go func() {
				defer func() { _ = c.Close() }()
				handle(c)
			}()
		}
	}()
	return redisconn.Target{Network: "tcp", Addr: l.Addr().String()}
}

// closedPort returns an address that nothing listens to.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// listenTLS serves TLS with a certificate that no one trusts.
func listenTLS(t *testing.T) redisconn.Target {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return redisconn.Target{Network: "tcp", Addr: s.Listener.Addr().String()}
}

// listenTLSNamed is listenTLS that tells the name it is asked for.
func listenTLSNamed(t *testing.T, name chan<- string) redisconn.Target {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		name <- hello.ServerName
		return nil, nil
	}}
	s.StartTLS()
	t.Cleanup(s.Close)
	return redisconn.Target{Network: "tcp", Addr: s.Listener.Addr().String(), TLS: &redisconn.TLS{}}
}

// answerHello reads commands and refuses HELLO, until another one came.
func answerHello(c net.Conn) (command string) {
	in := bufio.NewReader(c)
	for {
		name := readName(in)
		if name != "HELLO" {
			return name
		}
		_, _ = c.Write([]byte("-ERR unknown command 'HELLO'\r\n"))
	}
}

// readName reads one command and returns its name, or nothing at the end.
func readName(in *bufio.Reader) string {
	var name string
	line := func() string { text, _ := in.ReadString('\n'); return strings.TrimRight(text, "\r\n") }
	head := line()
	if !strings.HasPrefix(head, "*") {
		return ""
	}
	n := 0
	for _, digit := range head[1:] {
		n = 10*n + int(digit-'0')
	}
	for i := range n {
		_ = line() // the length; no argument of these tests holds a line end
		if word := line(); i == 0 {
			name = strings.ToUpper(word)
		}
	}
	return name
}
