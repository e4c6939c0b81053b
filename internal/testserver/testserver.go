// Package testserver starts the servers that tests run against: the embedded
// one, and a real redis-server of this machine. Only tests import it.
//
// A server belongs to one test and ends with it. Starting a real one takes
// some 20 ms; a package that wants one for all its tests starts it in TestMain
// with [StartReal].
package testserver

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/embedded"
)

// Server is a running server that a test may use as it likes.
type Server struct {
	URL  string // redis://127.0.0.1:port, unix:///path or rediss://name:port
	Real bool   // whether it is a redis-server rather than the embedded one

	tls *tls.Config // trusts the server, where the URL is one of TLS
}

// Client returns a patient client that is closed when the test ends.
func (s Server) Client(t testing.TB) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(s.URL)
	if err != nil {
		t.Fatalf("parsing the URL of the test server: %v", err)
	}
	options.TLSConfig = s.tls
	// A busy machine may take its time; only a test that fails waits so long.
	options.ReadTimeout, options.WriteTimeout = watchdog, watchdog
	client := redis.NewClient(options)
	t.Cleanup(func() {
		if err := client.Close(); err != nil && !errors.Is(err, redis.ErrClosed) {
			t.Errorf("closing the client of the test server: %v", err)
		}
	})
	return client
}

// Prefix returns a key prefix that no other call returns. It is good for all
// three stores.
func (s Server) Prefix(t testing.TB) string {
	t.Helper()
	return "test-" + strings.ToLower(rand.Text())
}

// Each runs a test on the embedded server and on a real one, as two parallel
// subtests. Without a redis-server the second is skipped, as by [Real].
func Each(t *testing.T, run func(t *testing.T, s Server)) {
	t.Helper()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		run(t, Embedded(t))
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		run(t, Real(t))
	})
}

// Embedded starts an embedded server without a data file.
func Embedded(t testing.TB) Server {
	t.Helper()
	s, err := embedded.Start(context.Background(), embedded.Options{})
	if err != nil {
		t.Fatalf("starting the embedded server: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing the embedded server: %v", err)
		}
	})
	return Server{URL: s.URL()}
}

// Real starts a redis-server on a Unix socket, with these further arguments:
// "--maxmemory", "10mb". Without a redis-server on the PATH the test is
// skipped, and fails where the environment says CI=true.
func Real(t testing.TB, args ...string) Server {
	t.Helper()
	return start(t, onSocket, args)
}

// RealTCP is [Real] on a free port of 127.0.0.1.
func RealTCP(t testing.TB, args ...string) Server {
	t.Helper()
	return start(t, onPort, args)
}

// StartReal starts a redis-server as [Real] does, outside of any test. The
// caller must call stop, which returns what the server printed. The error is
// an [exec.ErrNotFound] without a redis-server.
func StartReal(args ...string) (s Server, stop func() string, err error) {
	p, err := launch(onSocket, args)
	if err != nil {
		return Server{}, nil, err
	}
	return p.server(), p.stop, nil
}

// start starts a real server for a test.
func start(t testing.TB, listen listener, args []string) Server {
	t.Helper()
	p, err := launch(listen, args)
	require(t, err)
	t.Cleanup(func() { p.end(t) })
	return p.server()
}

// require ends a test whose server did not start.
func require(t testing.TB, err error) {
	t.Helper()
	switch {
	case errors.Is(err, exec.ErrNotFound) && os.Getenv("CI") != "true":
		t.Skip("redis-server is not installed: tests against a real Redis are skipped")
	case err != nil:
		t.Fatalf("starting redis-server: %v", err)
	}
}

// end stops a server with its test, and shows what it printed if that failed.
func (p *process) end(t testing.TB) {
	if output := p.stop(); t.Failed() {
		t.Logf("redis-server at %s printed:\n%s", p.url, output)
	}
}

func (p *process) server() Server { return Server{URL: p.url, Real: true, tls: p.tls} }
