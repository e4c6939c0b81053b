package warm_test

// What the tests of this package share.

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

var users = warm.Segment{Name: "users"}

// each runs a test on a store of its own, on each kind of server.
func each(t *testing.T, run func(t *testing.T, rdb *redis.Client, store *warm.Store)) {
	t.Helper()
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb := s.Client(t)
		run(t, rdb, open(t, rdb, s.Prefix(t)))
	})
}

func open(t testing.TB, rdb redis.UniversalClient, prefix string) *warm.Store {
	t.Helper()
	store, err := warm.New(rdb, prefix)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// mustCreate creates a chunk of users and returns its token.
func mustCreate(t testing.TB, store *warm.Store, chunk uint16, payload string) string {
	t.Helper()
	result, err := store.Create(t.Context(), users, chunk, []byte(payload))
	if err != nil {
		t.Fatalf("creating chunk %d: %v", chunk, err)
	}
	return result.Token
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

// listing is what List yields, by chunk.
type listing struct {
	numbers []uint16 // of whole chunks, in the order yielded
	chunks  map[uint16]warm.Chunk
	damaged map[uint16]error
	foreign []string
}

func list(t testing.TB, store *warm.Store, payload bool) listing {
	t.Helper()
	l := listing{chunks: map[uint16]warm.Chunk{}, damaged: map[uint16]error{}}
	opts := warm.ListOptions{Payload: payload, OnForeign: func(member string) { l.foreign = append(l.foreign, member) }}
	for chunk, err := range store.List(t.Context(), users, opts) {
		if err != nil {
			l.damaged[chunk.Number] = err
			continue
		}
		if n := len(l.numbers); n > 0 && l.numbers[n-1] >= chunk.Number {
			t.Errorf("chunk %d is listed after %d", chunk.Number, l.numbers[n-1])
		}
		l.numbers = append(l.numbers, chunk.Number)
		l.chunks[chunk.Number] = chunk
	}
	return l
}

// fill writes the first n chunks of a segment, as other drivers leave them.
func fill(t testing.TB, rdb redis.UniversalClient, store *warm.Store, seg warm.Segment, n int, payload []byte) {
	t.Helper()
	const batch = 1000
	for from := 0; from < n; from += batch {
		_, err := rdb.Pipelined(t.Context(), func(p redis.Pipeliner) error {
			var members []redis.Z
			for i := from; i < min(n, from+batch); i++ {
				p.HSet(t.Context(), store.ChunkKey(seg, uint16(i)), "t", token(i), "b", payload)
				members = append(members, redis.Z{Score: float64(i), Member: i})
			}
			p.ZAdd(t.Context(), store.IndexKey(seg), members...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func token(i int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", i) }

// lost is a hook that carries a client's first script out and loses its
// answer.
type lost struct {
	done  atomic.Bool
	after func() // runs when the answer is lost
}

func (l *lost) DialHook(next redis.DialHook) redis.DialHook { return next }
func (l *lost) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
func (l *lost) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if err != nil || !strings.HasPrefix(cmd.Name(), "eval") || l.done.Swap(true) {
			return err
		}
		l.after()
		cmd.SetErr(io.EOF)
		return io.EOF
	}
}
