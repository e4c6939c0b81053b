// Helpers of the tests of the embedded server; no test may leave a goroutine.
package embedded_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/keyspacectl/keyspacectl/internal/embedded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start starts a server that is closed when the test ends, unless it is before.
func start(t testing.TB, opts embedded.Options) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// dial returns a client of a server for one of its databases.
func dial(t testing.TB, s *embedded.Server, db int) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), DB: db})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// must ends the test when a command failed.
func must(t testing.TB, cmds ...redis.Cmder) {
	t.Helper()
	for _, cmd := range cmds {
		if cmd.Err() != nil {
			t.Fatal(cmd)
		}
	}
}
