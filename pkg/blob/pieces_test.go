// Tests of blobs that are too large for one piece.
package blob_test

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// large is more than two pieces, and no number of whole ones.
var large = strings.Repeat("0123456789abcdef", 150_000)

func largeChunk() []byte { return frame("ZLTC", 1, 0, chunkBody(3, uint32(len(large)), large)) }

func largeManifest() []byte {
	body := manifestHead(1, 32, 400)
	for i := range 400 {
		body = append(body, manifestChunk(uint32(i), strings.Repeat("r", blob.MaxReferenceBytes))...)
	}
	return frame("ZLTM", 1, 0, body)
}

// flipped returns bytes with one of them changed.
func flipped(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 1
	return b
}

func TestStatInPieces(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *blob.Store) {
		for name, test := range map[string]struct {
			payload []byte
			decodes bool // the frame is known
			damage  string
		}{
			"chunk":             {largeChunk(), true, ""},
			"manifest":          {largeManifest(), true, ""},
			"data":              {flipped(largeChunk(), 1<<21), true, "CRC-32C is wrong"},
			"CRC":               {flipped(largeChunk(), len(largeChunk())-1), true, "CRC-32C is wrong"},
			"manifest CRC":      {flipped(largeManifest(), 1<<20), true, "CRC-32C is wrong"},
			"cut":               {largeChunk()[:1<<21], false, "the frame is 2097152 long"},
			"chunk length":      {frame("ZLTC", 1, 0, chunkBody(0, 7, large)), false, "bytes too many"},
			"chunk version":     {frame("ZLTC", 2, 0, chunkBody(0, uint32(len(large)), large)), false, "version 2 is not supported"},
			"manifest of bytes": {frame("ZLTM", 1, 0, []byte(large)), false, "format 48 is not supported"},
			"endless manifest":  {frame("ZLTM", 1, 0, make([]byte, 18<<20)), false, "format 0 is not supported"},
		} {
			mustPut(t, store, name, string(test.payload))
			got, err := store.Stat(t.Context(), name)
			if err != nil || got.Size != int64(len(test.payload)) || (got.Frame != nil) != test.decodes {
				t.Errorf("%s: %+v, %v", name, got.Info, err)
				continue
			}
			if damage := got.Damage; (damage != nil) != (test.damage != "") || damage != nil && !strings.Contains(damage.Error(), test.damage) {
				t.Errorf("%s: damage %v, want %q", name, damage, test.damage)
			}
			if test.decodes && got.Frame.Chunk != nil && (got.Frame.Chunk.Order != 3 || got.Frame.Chunk.Data != nil) {
				t.Errorf("%s: order %d, %d bytes of data", name, got.Frame.Chunk.Order, len(got.Frame.Chunk.Data))
			}
		}
	})
}

func TestReadChunk(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *blob.Store) {
		mustPut(t, store, "small", goldenChunk)
		mustPut(t, store, "large", string(largeChunk()))
		for name, want := range map[string]blob.Chunk{"small": {Order: 7, Length: 5}, "large": {Order: 3, Length: uint32(len(large))}} {
			data := map[string]string{"small": "hello", "large": large}[name]
			want.CRC32C = crc32.Checksum([]byte(data), crc32.MakeTable(crc32.Castagnoli))
			var read bytes.Buffer
			got, err := store.ReadChunk(t.Context(), name, &read)
			if err != nil || got.Order != want.Order || got.Length != want.Length || got.CRC32C != want.CRC32C || got.Data != nil {
				t.Errorf("%s: %d, %d, %08x, %v, want %+v", name, got.Order, got.Length, got.CRC32C, err, want)
			}
			if read.String() != data {
				t.Errorf("%s: read %d bytes of data, want %d", name, read.Len(), len(data))
			}
		}
		for name, payload := range map[string][]byte{
			"bytes": []byte("hello"), "manifest": largeManifest(), "damaged": flipped(largeChunk(), 1<<20), "small damaged": flipped([]byte(goldenChunk), 20), "cut": []byte(goldenChunk)[:14],
		} {
			mustPut(t, store, name, string(payload))
			got, err := store.ReadChunk(t.Context(), name, io.Discard)
			wantKind(t, err, storeerr.Integrity)
			if wrong := strings.Contains(name, "damaged"); errors.Is(err, blob.ErrCRC) != wrong || (got.Length > 0) != wrong {
				t.Errorf("%s: a chunk of %d bytes with %v", name, got.Length, err)
			}
		}
		_, err := store.ReadChunk(t.Context(), "missing", io.Discard)
		wantKind(t, err, storeerr.NotFound)
		rdb.HSet(t.Context(), store.Key("hash"), "a", "b")
		_, err = store.ReadChunk(t.Context(), "hash", io.Discard)
		wantKind(t, err, storeerr.Integrity)
	})
}
