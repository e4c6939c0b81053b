package blob_test

// What the tests of this package share.

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// each runs a test on a store of its own, on each kind of server.
func each(t *testing.T, run func(t *testing.T, rdb *redis.Client, store *blob.Store)) {
	t.Helper()
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb := s.Client(t)
		run(t, rdb, open(t, rdb, s.Prefix(t)))
	})
}

func open(t testing.TB, rdb redis.UniversalClient, prefix string) *blob.Store {
	t.Helper()
	store, err := blob.New(rdb, prefix)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// mustPut puts a blob for an hour.
func mustPut(t testing.TB, store *blob.Store, reference, payload string) blob.Result {
	t.Helper()
	result, err := store.Put(t.Context(), reference, []byte(payload), 3600000)
	if err != nil {
		t.Fatalf("putting %q: %v", reference, err)
	}
	return result
}

func wantKind(t testing.TB, err error, kind storeerr.Kind) {
	t.Helper()
	if got := storeerr.KindOf(err); got != kind {
		t.Errorf("error %v is of kind %q, want %q", err, got, kind)
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q has more than one line", err)
	}
}

// lost is a hook that carries a client's first transaction out and loses its
// answer.
type lost struct {
	done  atomic.Bool
	after func() // runs when the answer is lost
}

func (l *lost) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (l *lost) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (l *lost) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		if err != nil && !errors.Is(err, redis.Nil) || l.done.Swap(true) {
			return err
		}
		for _, cmd := range cmds {
			cmd.SetErr(io.EOF)
		}
		l.after()
		return io.EOF
	}
}
