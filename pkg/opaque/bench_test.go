package opaque

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
)

const (
	benchRows  = 200_000
	benchBatch = 500
)

var benchValue = strings.Repeat("v", 200)

// fill writes rows of 200 bytes.
func (f fixture) fill(b *testing.B, rows int) {
	b.Helper()
	for at := 0; at < rows; at += benchBatch {
		var batch Batch
		for i := at; i < min(rows, at+benchBatch); i++ {
			batch.Mutations = append(batch.Mutations, Put(fmt.Sprintf("bench/%08d", i), benchValue, Never()))
		}
		f.write(b, batch)
	}
}

func BenchmarkWrite(b *testing.B) {
	f := newFixture(b, testserver.Real(b))
	for b.Loop() {
		f.fill(b, benchRows)
	}
	b.ReportMetric(float64(benchRows*b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkScan(b *testing.B) {
	f := newFixture(b, testserver.Real(b))
	f.fill(b, benchRows)
	for b.Loop() {
		rows := 0
		for _, err := range f.Scan(context.Background(), ScanOptions{}) {
			if err != nil {
				b.Fatal(err)
			}
			rows++
		}
		if rows != benchRows {
			b.Fatal(rows)
		}
	}
	b.ReportMetric(float64(benchRows*b.N)/b.Elapsed().Seconds(), "rows/s")
}

// Ten rows among many: the cost is that of the round trips.
func BenchmarkNarrowScan(b *testing.B) {
	f := newFixture(b, testserver.Real(b))
	f.fill(b, benchRows)
	for b.Loop() {
		rows, _, err := scanned(context.Background(), f, ScanOptions{Prefix: "bench/0001234"})
		if err != nil || len(rows) != 10 {
			b.Fatal(len(rows), err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	f := newFixture(b, testserver.Real(b))
	f.put(b, "k", benchValue)
	for b.Loop() {
		if _, _, err := f.Read(context.Background(), "k"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeMember(b *testing.B) {
	member := string(Member{Key: "bench/00000000", Value: benchValue, Version: "123456"}.Append(nil))
	b.SetBytes(int64(len(member)))
	for b.Loop() {
		if _, err := DecodeMember(member); err != nil {
			b.Fatal(err)
		}
	}
}
