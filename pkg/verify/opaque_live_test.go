// Tests beside live traffic: what is sound is found sound all the while.

package verify_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/verify"
)

// TestBesideTraffic verifies again and again while four writers put and delete,
// one scans, and one collects what is made due at once.
func TestBesideTraffic(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		batches := 300
		if !s.Real {
			batches = 60
		}
		f := newFixture(t, s)
		f.sound(t, 300)
		ctx, stop := context.WithCancel(t.Context())
		var writers, others sync.WaitGroup
		for w := range 4 {
			writers.Go(func() { traffic(t, f, uint64(w), batches) })
		}
		others.Go(func() { scanning(ctx, t, f) })
		others.Go(func() { collecting(ctx, t, f) })
		done := make(chan struct{})
		go func() {
			writers.Wait()
			close(done)
		}()
		for busy := true; busy; {
			select {
			case <-done:
				busy = false // once more, when all is quiet
			default:
			}
			if found := f.run(t, verify.RunOptions{}); len(found) > 0 {
				t.Errorf("found%s", describe(found))
				busy = false
			}
		}
		stop()
		writers.Wait()
		others.Wait()
	})
}

// traffic writes batches of puts and deletes on a few keys.
func traffic(t *testing.T, f fixture, seed uint64, batches int) {
	random := rand.New(rand.NewPCG(seed, 7))
	for range batches {
		var b opaque.Batch
		for key := random.IntN(100); key < 400; key += 1 + random.IntN(100) {
			name := "busy/" + strconv.Itoa(key)
			switch random.IntN(4) {
			case 0:
				b.Mutations = append(b.Mutations, opaque.Delete(name))
			case 1:
				b.Mutations = append(b.Mutations, opaque.Put(name, "v", opaque.At(f.now(t)+int64(random.IntN(50)+1))))
			default:
				b.Mutations = append(b.Mutations, opaque.Put(name, fmt.Sprint(random.Uint64()), opaque.Never()))
			}
		}
		// Under the open snapshots of the scans a row may run into its backlog.
		if _, err := f.store.Write(context.Background(), b); err != nil && !errors.Is(err, storeerr.Backlog) {
			t.Error(err)
			return
		}
	}
}

// scanning scans all rows again and again.
func scanning(ctx context.Context, t *testing.T, f fixture) {
	for ctx.Err() == nil {
		for _, err := range f.store.Scan(context.WithoutCancel(ctx), opaque.ScanOptions{PageSize: 100}) {
			if err != nil {
				t.Error(err)
				return
			}
		}
	}
}

// collecting makes everything due and collects it.
func collecting(ctx context.Context, t *testing.T, f fixture) {
	for ctx.Err() == nil {
		f.do(t, "ZUNIONSTORE", f.keys.Cleanup(), 1, f.keys.Cleanup(), "WEIGHTS", 0)
		if _, err := f.store.Collect(context.WithoutCancel(ctx), opaque.PassSize); err != nil {
			t.Error(err)
			return
		}
	}
}
