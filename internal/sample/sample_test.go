package sample_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/sample"
	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/verify"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

func TestFill(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		client := s.Client(t)
		if filled, err := sample.Fill(t.Context(), client, "demo"); err != nil || !filled {
			t.Fatalf("Fill = %v, %v", filled, err)
		}
		t.Run("rows", func(t *testing.T) { checkRows(t, must(opaque.New(client, "demo"))) })
		t.Run("blobs", func(t *testing.T) { checkBlobs(t, must(blob.New(client, "demo"))) })
		t.Run("chunks", func(t *testing.T) { checkChunks(t, must(warm.New(client, "demo"))) })

		before := client.DBSize(t.Context()).Val()
		if filled, err := sample.Fill(t.Context(), client, "other"); err != nil || filled {
			t.Errorf("a second Fill = %v, %v, want false", filled, err)
		}
		if after := client.DBSize(t.Context()).Val(); after != before {
			t.Errorf("a second Fill left %d keys, want %d", after, before)
		}
	})
}

func TestFillRefusesPrefix(t *testing.T) {
	t.Parallel()
	client := testserver.Embedded(t).Client(t)
	for _, prefix := range []string{"", "a{b", "a|b"} {
		if _, err := sample.Fill(t.Context(), client, prefix); !errors.Is(err, storeerr.Invalid) {
			t.Errorf("prefix %q: error %v, want invalid", prefix, err)
		}
	}
	if n := client.DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("%d keys were written", n)
	}
}

func checkRows(t *testing.T, store *opaque.Store) {
	var keys []string
	for row, err := range store.Scan(t.Context(), opaque.ScanOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, row.Key)
		if expires := strings.HasPrefix(row.Key, "owner-lease\x00") || strings.HasPrefix(row.Key, "creation-terminal\x00"); expires != (row.ExpiresAt > 0) {
			t.Errorf("key %q expires at %d", row.Key, row.ExpiresAt)
		}
	}
	if len(keys) != 12 || !slices.Contains(keys, "owner-lease\x00orders") {
		t.Errorf("rows %q, want 12 with a lease of orders", keys)
	}
	_, versions, err := store.History(t.Context(), "mesh-node\x00eu\x00c4580e6fa7132b9d")
	if err != nil || len(versions) != 2 || !versions[0].Tombstone || versions[1].Tombstone {
		t.Errorf("the deleted node has versions %+v, %v; want a tombstone on a value", versions, err)
	}
}

func checkBlobs(t *testing.T, store *blob.Store) {
	whole, err := store.Read(t.Context(), "relocation/world-7")
	if err != nil {
		t.Fatal(err)
	}
	frame, err := blob.DecodeFrame(whole.Payload)
	if err != nil || frame == nil || frame.Manifest == nil {
		t.Fatalf("frame %+v, %v; want a manifest", frame, err)
	}
	var payload bytes.Buffer
	for _, part := range frame.Manifest.Chunks {
		payload.Write(chunkData(t, store, part.Reference))
	}
	if uint64(payload.Len()) != frame.Manifest.TotalLength || len(frame.Manifest.Chunks) < 2 {
		t.Errorf("%d chunks of %d bytes, the manifest says %d", len(frame.Manifest.Chunks), payload.Len(), frame.Manifest.TotalLength)
	}
}

func chunkData(t *testing.T, store *blob.Store, reference string) []byte {
	part, err := store.Read(t.Context(), reference)
	if err != nil {
		t.Fatal(err)
	}
	frame, err := blob.DecodeFrame(part.Payload)
	if err != nil || frame == nil || frame.Chunk == nil {
		t.Fatalf("%s: frame %+v, %v; want a chunk", reference, frame, err)
	}
	return frame.Chunk.Data
}

func checkChunks(t *testing.T, store *warm.Store) {
	var segments []string
	for info, err := range store.Segments(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		segments = append(segments, info.String())
		for chunk, err := range store.List(t.Context(), info.Segment, warm.ListOptions{Payload: true}) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := warm.DecodeDelta(chunk.Payload); err != nil {
				t.Errorf("%s chunk %d: %v", info, chunk.Number, err)
			}
		}
	}
	slices.Sort(segments)
	if want := []string{"eu/online", "users"}; !slices.Equal(segments, want) {
		t.Errorf("segments %q, want %q", segments, want)
	}
}

// The damages are these, and no others; what is safe to mend can be mended.
func TestBreak(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		client := s.Client(t)
		if _, err := sample.Fill(t.Context(), client, "demo"); err != nil {
			t.Fatal(err)
		}
		if found := codes(t, client, verify.RunOptions{}); len(found) > 0 {
			t.Errorf("the sample itself has %v", found)
		}
		if err := sample.Break(t.Context(), client, "demo"); err != nil {
			t.Fatal(err)
		}
		lasting := []verify.Code{verify.BlobFrameCRC, verify.BlobManifestChunk, verify.BlobNoTTL, verify.WarmPayloadDamaged}
		want := append([]verify.Code{
			verify.OpaquePoisonRow, verify.OpaqueCounterBehind, verify.OpaqueIndexMissing, verify.OpaqueIndexOrphan, verify.OpaqueMapMissing,
			verify.OpaqueMapOrphan, verify.OpaqueSnapshotPinned, verify.WarmIndexMissing, verify.WarmIndexOrphan, verify.WarmTTL,
		}, lasting...)
		slices.Sort(want)
		if found := codes(t, client, verify.RunOptions{}); !slices.Equal(found, want) {
			t.Errorf("found %v, want %v", found, want)
		}
		codes(t, client, verify.RunOptions{Repair: true})
		want = append([]verify.Code{verify.OpaqueQuarantine}, lasting...)
		slices.Sort(want)
		if found := codes(t, client, verify.RunOptions{Repair: true}); !slices.Equal(found, want) {
			t.Errorf("after mending there is %v, want %v", found, want)
		}
		_, read, err := must(opaque.New(client, "demo")).Read(t.Context(), sample.PoisonedKey)
		if err != nil || len(read) != 1 || read[0].Err != nil || !read[0].Found {
			t.Errorf("the row that was poisoned reads as %+v, %v", read, err)
		}
	})
}

// codes returns the codes that are found, sorted.
func codes(t *testing.T, client *redis.Client, o verify.RunOptions) []verify.Code {
	t.Helper()
	o.Prefix = "demo"
	var found []verify.Code
	for result, err := range verify.Run(t.Context(), client, o) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, result.Code)
	}
	slices.Sort(found)
	return found
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
