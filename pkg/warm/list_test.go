package warm_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

func TestListSizes(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 1000, 4097, 7998, 7999, 8000, 20001} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			testserver.Each(t, func(t *testing.T, s testserver.Server) {
				rdb := s.Client(t)
				store := open(t, rdb, s.Prefix(t))
				fill(t, rdb, store, users, n, []byte("payload"))
				for _, payload := range []bool{false, true} {
					got := list(t, store, payload)
					if len(got.numbers) != n || len(got.damaged)+len(got.foreign) > 0 {
						t.Fatalf("listed %d chunks, %d damaged, %d foreign, want %d", len(got.numbers), len(got.damaged), len(got.foreign), n)
					}
					for number, chunk := range got.chunks {
						wantPayload := map[bool]string{true: "payload"}[payload]
						if chunk.Token != token(int(number)) || chunk.Size != 7 || string(chunk.Payload) != wantPayload {
							t.Fatalf("chunk %+v", chunk)
						}
					}
				}
			})
		})
	}
}

func TestListLargePayloads(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *warm.Store) {
		const large = 5
		for i := range uint16(large) {
			mustCreate(t, store, i*100, string(bytes.Repeat([]byte{byte(i)}, warm.MaxPayloadBytes)))
			mustCreate(t, store, i*100+1, "")
		}
		got := list(t, store, true)
		if len(got.numbers) != 2*large {
			t.Fatalf("listed %v, want %d chunks", got.numbers, 2*large)
		}
		for n, chunk := range got.chunks {
			want := 0
			if n%100 == 0 {
				want = warm.MaxPayloadBytes
			}
			if len(chunk.Payload) != want || chunk.Size != int64(want) || want > 0 && chunk.Payload[want-1] != byte(n/100) {
				t.Errorf("chunk %d has %d bytes, want %d", n, len(chunk.Payload), want)
			}
		}
	})
}

func TestListGoesOnAfterDamage(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *warm.Store) {
		ctx := t.Context()
		fill(t, rdb, store, users, 10, []byte("x"))
		rdb.Del(ctx, store.ChunkKey(users, 1)) // deleted meanwhile
		rdb.HDel(ctx, store.ChunkKey(users, 2), "t")
		rdb.HDel(ctx, store.ChunkKey(users, 3), "b")
		rdb.Del(ctx, store.ChunkKey(users, 4))
		rdb.Set(ctx, store.ChunkKey(users, 4), "string", 0)
		foreign := []string{"abc", "007", "65536", "-1", "", "1.0", "+5", "infinity"}
		for i, member := range foreign {
			rdb.ZAdd(ctx, store.IndexKey(users), redis.Z{Score: float64(i), Member: member})
		}
		rdb.ZAdd(ctx, store.IndexKey(users), redis.Z{Score: math.Inf(1), Member: "9"}) // its own score lost
		for _, payload := range []bool{false, true} {
			got := list(t, store, payload)
			if want := []uint16{0, 5, 6, 7, 8, 9}; !slices.Equal(got.numbers, want) {
				t.Errorf("listed %v, want %v", got.numbers, want)
			}
			if len(got.damaged) != 3 {
				t.Errorf("damaged %v, want 2, 3 and 4", got.damaged)
			}
			for _, n := range []uint16{2, 3, 4} {
				wantKind(t, got.damaged[n], storeerr.Integrity)
			}
			slices.Sort(got.foreign)
			if want := slices.Sorted(slices.Values(foreign)); !slices.Equal(got.foreign, want) {
				t.Errorf("foreign members %q, want %q", got.foreign, want)
			}
		}
	})
}

func TestListPassesForeignMembersOfOneScore(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *warm.Store) {
		const foreign = 10000
		fill(t, rdb, store, users, 20, nil)
		var members []redis.Z
		for i := range foreign {
			members = append(members, redis.Z{Score: 10, Member: fmt.Sprint("x", i)})
		}
		if err := rdb.ZAdd(t.Context(), store.IndexKey(users), members...).Err(); err != nil {
			t.Fatal(err)
		}
		if got := list(t, store, false); len(got.numbers) != 20 || len(got.foreign) != foreign {
			t.Errorf("listed %d chunks and %d foreign members, want 20 and %d", len(got.numbers), len(got.foreign), foreign)
		}
	})
}

// TestListUnderWrites lists while even chunks stay and odd ones come and go.
func TestListUnderWrites(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *warm.Store) {
		const n = 3000
		fill(t, rdb, store, users, n, []byte("x"))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var writer sync.WaitGroup
		writer.Go(func() {
			for i := 1; ctx.Err() == nil; i = (i + 2) % n {
				number := uint16(i)
				if got, err := store.Get(ctx, users, number); err == nil {
					_, _ = store.Delete(ctx, users, number, got.Token)
				} else {
					_, _ = store.Create(ctx, users, number, nil)
				}
			}
		})
		for range 3 {
			got := list(t, store, true)
			for i := 0; i < n; i += 2 {
				if _, ok := got.chunks[uint16(i)]; !ok {
					t.Errorf("chunk %d is lost", i)
				}
			}
			for number, err := range got.damaged {
				t.Errorf("chunk %d: %v", number, err)
			}
		}
		cancel()
		writer.Wait()
	})
}

func TestListStopsEarly(t *testing.T) {
	s := testserver.Real(t)
	rdb := s.Client(t)
	store := open(t, rdb, s.Prefix(t))
	fill(t, rdb, store, users, 20000, []byte("x"))
	before := goleak.IgnoreCurrent()
	seen := 0
	for chunk, err := range store.List(t.Context(), users, warm.ListOptions{Payload: true}) {
		if err != nil || int(chunk.Number) != seen {
			t.Fatalf("chunk %d, %v, want %d", chunk.Number, err, seen)
		}
		if seen++; seen == 1500 {
			break
		}
	}
	goleak.VerifyNone(t, before)
}

func TestListReportsAFailureOnce(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t)
	rdb := s.Client(t)
	store := open(t, rdb, s.Prefix(t))
	fill(t, rdb, store, users, 20000, []byte("x"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failures := 0
	for _, err := range store.List(ctx, users, warm.ListOptions{}) {
		cancel()
		if err != nil {
			failures++
		}
	}
	if failures != 1 {
		t.Errorf("%d failures, want one", failures)
	}
}
