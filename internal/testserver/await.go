// Waiting for what servers agree on among themselves.

package testserver

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// await asks until done returns no error. Servers tell nobody when they have
// come to know of each other, so there is no event to wait for.
func await(t testing.TB, what string, done func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		err := done(ctx)
		if err == nil {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatalf("waiting until %s: %v", what, err)
		}
	}
}

// says returns an error unless the reply to INFO or CLUSTER INFO has all lines.
func says(reply *redis.StringCmd, lines ...string) error {
	text, err := reply.Result()
	if err != nil {
		return err
	}
	for _, line := range lines {
		if !strings.Contains(text, line+"\r\n") {
			return fmt.Errorf("%q is not in %q", line, text)
		}
	}
	return nil
}
