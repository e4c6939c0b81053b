package blob_test

import (
	"bytes"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
)

// BenchmarkLargest puts and reads the largest blob on a real Redis, beside a
// bare SET and GET of the same bytes.
func BenchmarkLargest(b *testing.B) {
	rdb := testserver.Real(b).Client(b)
	store, err := blob.New(rdb, "bench")
	if err != nil {
		b.Fatal(err)
	}
	payload := bytes.Repeat([]byte{0xa5}, blob.MaxPayloadBytes)
	work := []struct {
		name string
		do   func() error
	}{
		{"SET", func() error { return rdb.Set(b.Context(), "bare", payload, 0).Err() }},
		{"Put", func() error { _, err := store.Put(b.Context(), "r", payload, 60000); return err }},
		{"GET", func() error { return rdb.Get(b.Context(), "bare").Err() }},
		{"Read", func() error { _, err := store.Read(b.Context(), "r"); return err }},
	}
	for _, w := range work {
		b.Run(w.name, func(b *testing.B) {
			b.SetBytes(int64(len(payload)))
			b.ReportAllocs()
			for b.Loop() {
				if w.name == "Put" {
					b.StopTimer()
					rdb.Del(b.Context(), store.Key("r"))
					b.StartTimer()
				}
				if err := w.do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
