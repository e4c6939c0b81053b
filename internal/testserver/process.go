// The life of one redis-server process: a place for its socket, the wait until
// it is ready, its output and its end.

package testserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// watchdog is how long a server may take to start. Nothing waits for it but a
// test that fails.
const watchdog = 2 * time.Minute

// maxSocketPath is the longest path of a Unix socket that all systems take.
const maxSocketPath = 100

// portAttempts is how many ports are tried, because another process may take
// a free port before the server does.
const portAttempts = 5

// endpoint is where a server listens: the arguments that say so, and how to
// reach it.
type endpoint struct {
	args []string
	url  string
	tls  *tls.Config // where the URL is one of TLS
}

// listener chooses where the server of a directory of its own listens.
type listener func(dir string) (endpoint, error)

// onSocket listens on a Unix socket in a directory.
func onSocket(dir string) (endpoint, error) {
	path := filepath.Join(dir, "s")
	return endpoint{args: inMemory(dir, "--port", "0", "--unixsocket", path), url: "unix://" + path}, nil
}

// onPort listens on a port of 127.0.0.1.
func onPort(dir string) (endpoint, error) {
	port, err := freePort()
	if err != nil {
		return endpoint{}, err
	}
	return endpoint{args: inMemory(dir, "--port", port, "--bind", "127.0.0.1"), url: "redis://127.0.0.1:" + port}, nil
}

// freePort returns a port of 127.0.0.1 that is free now.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// inMemory returns the arguments of a server that saves nothing.
func inMemory(dir string, args ...string) []string {
	return append(args, "--dir", dir, "--save", "", "--appendonly", "no")
}

// process is a redis-server that runs.
type process struct {
	endpoint
	dir    string
	cmd    *exec.Cmd
	output *output
	exited chan struct{}
}

// launch starts a redis-server and waits until it answers.
func launch(listen listener, args []string) (*process, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		p, err := launchOnce(program, listen, args)
		if err == nil || attempt == portAttempts || !strings.Contains(err.Error(), "ddress already in use") {
			return p, err
		}
	}
}

func launchOnce(program string, listen listener, args []string) (*process, error) {
	dir, err := shortTempDir()
	if err != nil {
		return nil, err
	}
	at, err := listen(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	p := &process{
		endpoint: at,
		dir:      dir,
		cmd:      exec.Command(program, append(at.args, args...)...),
		output:   &output{ready: make(chan struct{})},
		exited:   make(chan struct{}),
	}
	p.cmd.SysProcAttr = endWithParent()
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	go func() {
		defer close(p.exited)
		_ = p.cmd.Wait() // that it was killed is no news
	}()
	if err := p.awaitReady(); err != nil {
		return nil, fmt.Errorf("%w; it printed:\n%s", err, p.stop())
	}
	return p, nil
}

// awaitReady waits until the server says that it takes connections, and asks
// for one answer.
func (p *process) awaitReady() error {
	ctx, cancel := context.WithTimeout(context.Background(), watchdog)
	defer cancel()
	select {
	case <-p.output.ready:
	case <-p.exited:
		return errors.New("redis-server ended before it was ready")
	case <-ctx.Done():
		return errors.New("redis-server did not become ready")
	}
	options, err := redis.ParseURL(p.url)
	if err != nil {
		return err
	}
	options.TLSConfig = p.tls
	client := redis.NewClient(options)
	defer client.Close()
	err = client.Ping(ctx).Err()
	if _, answered := errors.AsType[redis.Error](err); answered {
		return nil // it may well ask for a password
	}
	return err
}

// stop kills the server, which has nothing to lose, and returns what it
// printed. It may be called again.
func (p *process) stop() string {
	_ = p.cmd.Process.Kill() // fails only when it has ended
	<-p.exited
	_ = os.RemoveAll(p.dir)
	return p.output.String()
}

// shortTempDir makes a directory in which the path of a socket is short
// enough, whatever the directory for temporary files is.
func shortTempDir() (string, error) {
	dir, err := os.MkdirTemp("", "redis-")
	if err != nil || len(filepath.Join(dir, "s")) <= maxSocketPath {
		return dir, err
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return os.MkdirTemp("/tmp", "redis-")
}

// output keeps what a server prints, and closes ready when that says that the
// server takes connections.
type output struct {
	ready chan struct{}

	mu   sync.Mutex
	text strings.Builder
	told bool
}

// Write takes what the server prints next.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(p)
	if !o.told && readyLine(o.text.String()) {
		o.told = true
		close(o.ready)
	}
	return len(p), nil
}

// String returns all that was printed.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// readyLine tells whether a log says that the server takes connections, in the
// words for a port or for a socket, or in those of a Sentinel.
func readyLine(log string) bool {
	return strings.Contains(log, "eady to accept connections") || strings.Contains(log, "Sentinel ID is")
}
