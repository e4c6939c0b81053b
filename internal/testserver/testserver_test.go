// Tests of the servers that other tests run against.
package testserver_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
)

func TestEachServesCommands(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		c := s.Client(t)
		if err := c.Set(t.Context(), "k", "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
		if got := c.Get(t.Context(), "k").Val(); got != "v" {
			t.Errorf("GET k = %q, want \"v\"", got)
		}
		if want := strings.HasSuffix(t.Name(), "/redis"); s.Real != want {
			t.Errorf("Real = %v, want %v", s.Real, want)
		}
	})
}

func TestServersAreApart(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(testing.TB) testserver.Server{
		"embedded": testserver.Embedded,
		"redis":    func(t testing.TB) testserver.Server { return testserver.Real(t) },
		"tcp":      func(t testing.TB) testserver.Server { return testserver.RealTCP(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := start(t), start(t)
			if a.URL == b.URL {
				t.Fatalf("two servers share the URL %s", a.URL)
			}
			if err := a.Client(t).Set(t.Context(), "k", "v", 0).Err(); err != nil {
				t.Fatal(err)
			}
			if err := b.Client(t).Get(t.Context(), "k").Err(); !errors.Is(err, redis.Nil) {
				t.Errorf("GET k on the other server: %v, want redis.Nil", err)
			}
			if one, other := a.Prefix(t), a.Prefix(t); one == other {
				t.Error("two prefixes are the same")
			}
		})
	}
}

func TestRealTakesArguments(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t, "--maxmemory", "10mb", "--requirepass", "secret")
	options, err := redis.ParseURL(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	options.Password = "secret"
	c := redis.NewClient(options)
	defer c.Close()
	got, err := c.ConfigGet(t.Context(), "maxmemory").Result()
	if err != nil || got["maxmemory"] != "10485760" {
		t.Errorf("maxmemory = %v, %v, want 10485760", got, err)
	}
}

func TestRealSocketPathIsShort(t *testing.T) {
	// The directory is set for the whole process, so the test runs alone.
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 25))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	s := testserver.Real(t)
	if path := strings.TrimPrefix(s.URL, "unix://"); len(path) > 100 {
		t.Errorf("socket path %s has %d bytes, want at most 100", path, len(path))
	}
}

func TestRealEndsWithItsTest(t *testing.T) {
	t.Parallel()
	testserver.Real(t) // skips where there is no redis-server
	var path string
	t.Run("started", func(t *testing.T) {
		path = strings.TrimPrefix(testserver.Real(t).URL, "unix://")
	})
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		t.Error("the server takes connections after its test has ended")
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory of the server: %v, want it gone", err)
	}
}

func TestStartReal(t *testing.T) {
	t.Parallel()
	testserver.Real(t) // skips where there is no redis-server
	s, stop, err := testserver.StartReal()
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Client(t).Ping(t.Context()).Val(); got != "PONG" {
		t.Errorf("PING = %q, want PONG", got)
	}
	if output := stop(); !strings.Contains(output, "eady to accept connections") {
		t.Errorf("stop returned %q, want the server's log", output)
	}
	if _, _, err := testserver.StartReal("--no-such-setting", "1"); err == nil ||
		!strings.Contains(err.Error(), "no-such-setting") {
		t.Errorf("a bad setting: error %v, want the server's own words", err)
	}
}

func TestStartRealWithoutRedis(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, _, err := testserver.StartReal(); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("error %v, want exec.ErrNotFound", err)
	}
	for ci, want := range map[string]string{"": "skipped", "true": "failed"} {
		t.Setenv("CI", ci)
		asked := &ended{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			testserver.Real(asked)
		}()
		if <-done; asked.how != want {
			t.Errorf("with CI=%s the test has %s, want %s", ci, asked.how, want)
		}
	}
}

// ended is a test that notes how it was ended.
type ended struct {
	testing.TB
	how string
}

func (e *ended) Skip(...any) {
	e.how = "skipped"
	runtime.Goexit()
}

func (e *ended) Fatalf(string, ...any) {
	e.how = "failed"
	runtime.Goexit()
}

func BenchmarkReal(b *testing.B) {
	for b.Loop() {
		_, stop, err := testserver.StartReal()
		if err != nil {
			b.Fatal(err)
		}
		stop()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(time.Millisecond), "ms/start")
}
