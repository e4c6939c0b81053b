package warm_test

import (
	"bytes"
	"fmt"
	"testing"

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
