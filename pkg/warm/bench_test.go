package warm_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// BenchmarkList lists a full segment of 300-byte payloads on a real Redis.
func BenchmarkList(b *testing.B) {
	rdb := testserver.Real(b).Client(b)
	store, err := warm.New(rdb, "bench")
	if err != nil {
		b.Fatal(err)
	}
	seg := warm.Segment{Name: "full"}
	fill(b, rdb, store, seg, warm.MaxChunks, bytes.Repeat([]byte{0xa5}, 300))
	for _, payload := range []bool{false, true} {
		b.Run(fmt.Sprintf("payload=%t", payload), func(b *testing.B) {
			for b.Loop() {
				rows := 0
				for _, err := range store.List(b.Context(), seg, warm.ListOptions{Payload: payload}) {
					if err != nil {
						b.Fatal(err)
					}
					rows++
				}
				if rows != warm.MaxChunks {
					b.Fatalf("%d rows", rows)
				}
			}
			b.ReportMetric(float64(warm.MaxChunks)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
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
