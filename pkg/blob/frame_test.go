package blob_test

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// frame builds a frame by the book: head, body, CRC.
func frame(magic string, version byte, flags uint16, body []byte) []byte {
	b := append([]byte(magic), version)
	b = binary.BigEndian.AppendUint16(b, flags)
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	b = append(b, body...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

func chunkBody(order, length uint32, data string) []byte {
	b := binary.BigEndian.AppendUint32(nil, order)
	b = binary.BigEndian.AppendUint32(b, length)
	return append(b, data...)
}

func manifestHead(format, hashSize byte, count uint32) []byte {
	b := binary.BigEndian.AppendUint64([]byte{format}, 1<<40)
	b = binary.BigEndian.AppendUint32(b, 0xdeadbeef)
	b = append(append(b, hashSize), strings.Repeat("h", 32)...)
	return binary.BigEndian.AppendUint32(b, count)
}

func manifestChunk(order uint32, reference string) []byte {
	b := binary.BigEndian.AppendUint32(nil, order)
	b = binary.BigEndian.AppendUint16(b, uint16(len(reference)))
	b = append(b, reference...)
	b = binary.BigEndian.AppendUint64(b, 1<<33)
	return binary.BigEndian.AppendUint32(b, 0xc0ffee)
}

func join(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// goldenChunk is a chunk frame of order 7 and data "hello"; its CRC was
// computed bit by bit from the polynomial, apart from any library.
const goldenChunk = "ZLTC\x01\x00\x00\x00\x00\x00\x0d\x00\x00\x00\x07\x00\x00\x00\x05hello" + "\x13\xa7\x3f\xe5"

func TestDecodeChunk(t *testing.T) {
	t.Parallel()
	for name, payload := range map[string][]byte{
		"golden": []byte(goldenChunk),
		"built":  frame("ZLTC", 1, 0, chunkBody(7, 5, "hello")),
	} {
		got, err := blob.DecodeFrame(payload)
		if err != nil || got == nil || got.Chunk == nil || got.Manifest != nil {
			t.Fatalf("%s: %+v, %v, want a chunk", name, got, err)
		}
		if c := got.Chunk; c.Order != 7 || c.Length != 5 || string(c.Data) != "hello" {
			t.Errorf("%s: %+v, want order 7 and hello", name, c)
		}
	}
}

func TestDecodeManifest(t *testing.T) {
	t.Parallel()
	body := join(manifestHead(1, 32, 2), manifestChunk(0, "part/0"), manifestChunk(1, "часть"))
	got, err := blob.DecodeFrame(frame("ZLTM", 1, 0, body))
	if err != nil || got == nil || got.Manifest == nil || got.Chunk != nil {
		t.Fatalf("%+v, %v, want a manifest", got, err)
	}
	m := got.Manifest
	if m.TotalLength != 1<<40 || m.CRC32C != 0xdeadbeef || string(m.SHA256[:]) != strings.Repeat("h", 32) {
		t.Errorf("head %d, %x, %x", m.TotalLength, m.CRC32C, m.SHA256)
	}
	want := []blob.ManifestChunk{
		{Order: 0, Reference: "part/0", Length: 1 << 33, CRC32C: 0xc0ffee},
		{Order: 1, Reference: "часть", Length: 1 << 33, CRC32C: 0xc0ffee},
	}
	if len(m.Chunks) != 2 || m.Chunks[0] != want[0] || m.Chunks[1] != want[1] {
		t.Errorf("chunks %+v, want %+v", m.Chunks, want)
	}
}

func TestDecodeJustBytes(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{"", "ZLT", "ZLTX\x01", "zltc", `{"a":1}`} {
		if got, err := blob.DecodeFrame([]byte(payload)); got != nil || err != nil {
			t.Errorf("%q: %+v, %v, want nothing", payload, got, err)
		}
	}
}

func TestDecodeDamage(t *testing.T) {
	t.Parallel()
	one := manifestChunk(0, "r")
	for name, payload := range map[string][]byte{
		"magic only":            []byte("ZLTC"),
		"cut in the head":       []byte("ZLTM\x01\x00\x00\x00"),
		"cut at the end":        []byte(goldenChunk[:len(goldenChunk)-1]),
		"one byte more":         []byte(goldenChunk + "x"),
		"wrong CRC":             []byte(goldenChunk[:len(goldenChunk)-1] + "\x00"),
		"version 2":             frame("ZLTC", 2, 0, chunkBody(0, 0, "")),
		"flags":                 frame("ZLTC", 1, 1, chunkBody(0, 0, "")),
		"empty body":            frame("ZLTC", 1, 0, nil),
		"data too short":        frame("ZLTC", 1, 0, chunkBody(0, 6, "hello")),
		"data too long":         frame("ZLTC", 1, 0, chunkBody(0, 4, "hello")),
		"huge length":           frame("ZLTC", 1, 0, chunkBody(0, 1<<32-1, "hello")),
		"empty manifest":        frame("ZLTM", 1, 0, nil),
		"manifest format":       frame("ZLTM", 1, 0, join(manifestHead(2, 32, 1), one)),
		"size of SHA-256":       frame("ZLTM", 1, 0, join(manifestHead(1, 31, 1), one)),
		"no chunks":             frame("ZLTM", 1, 0, manifestHead(1, 32, 0)),
		"too many chunks":       frame("ZLTM", 1, 0, join(manifestHead(1, 32, 4097), one)),
		"chunks missing":        frame("ZLTM", 1, 0, join(manifestHead(1, 32, 2), one)),
		"chunk cut":             frame("ZLTM", 1, 0, join(manifestHead(1, 32, 1), one[:len(one)-1])),
		"empty reference":       frame("ZLTM", 1, 0, join(manifestHead(1, 32, 1), manifestChunk(0, ""))),
		"reference no UTF-8":    frame("ZLTM", 1, 0, join(manifestHead(1, 32, 1), manifestChunk(0, "\xff"))),
		"reference too long":    frame("ZLTM", 1, 0, join(manifestHead(1, 32, 1), manifestChunk(0, strings.Repeat("r", 4097)))),
		"bytes after the chunk": frame("ZLTM", 1, 0, join(manifestHead(1, 32, 1), one, []byte{0})),
	} {
		got, err := blob.DecodeFrame(payload)
		if got != nil {
			t.Errorf("%s: %+v, want nothing", name, got)
		}
		if storeerr.KindOf(err) != storeerr.Integrity {
			t.Errorf("%s: error %v, want integrity", name, err)
		}
	}
}

func TestMostChunksOfAManifest(t *testing.T) {
	t.Parallel()
	body := manifestHead(1, 32, blob.MaxManifestChunks)
	for i := range blob.MaxManifestChunks {
		body = append(body, manifestChunk(uint32(i), strings.Repeat("r", blob.MaxReferenceBytes))...)
	}
	got, err := blob.DecodeFrame(frame("ZLTM", 1, 0, body))
	if err != nil || len(got.Manifest.Chunks) != blob.MaxManifestChunks {
		t.Fatalf("%v, want %d chunks", err, blob.MaxManifestChunks)
	}
}

func TestStat(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *blob.Store) {
		for reference, payload := range map[string]string{
			"bytes": "hello", "empty": "", "chunk": goldenChunk, "damaged": goldenChunk[:20],
			"wrong CRC": goldenChunk[:27] + "\x00",
			"manifest":  string(frame("ZLTM", 1, 0, join(manifestHead(1, 32, 1), manifestChunk(0, "r")))),
		} {
			mustPut(t, store, reference, payload)
		}
		for _, test := range []struct {
			reference                string
			size                     int64
			kind                     blob.Kind
			chunk, manifest, damaged bool
		}{
			{"bytes", 5, blob.KindBytes, false, false, false},
			{"empty", 0, blob.KindBytes, false, false, false},
			{"chunk", 28, blob.KindChunk, true, false, false},
			{"manifest", 84, blob.KindManifest, false, true, false},
			{"damaged", 20, blob.KindChunk, false, false, true},
			{"wrong CRC", 28, blob.KindChunk, true, false, true},
		} {
			got, err := store.Stat(t.Context(), test.reference)
			if err != nil {
				t.Errorf("%s: %v", test.reference, err)
				continue
			}
			if got.Size != test.size || got.ExpiresAt == 0 || got.Reference != test.reference {
				t.Errorf("%s: %+v, want %d bytes and an expiry", test.reference, got.Info, test.size)
			}
			chunk := got.Frame != nil && got.Frame.Chunk != nil
			manifest := got.Frame != nil && got.Frame.Manifest != nil
			if got.Kind != test.kind || chunk != test.chunk || manifest != test.manifest || (got.Damage != nil) != test.damaged {
				t.Errorf("%s: %s, frame %+v, damage %v", test.reference, got.Kind, got.Frame, got.Damage)
			}
			if wrong := errors.Is(got.Damage, blob.ErrCRC); wrong != (test.reference == "wrong CRC") {
				t.Errorf("%s: a wrong CRC is %t", test.reference, wrong)
			}
			if chunk && got.Frame.Chunk.Data != nil {
				t.Errorf("%s: stat brings the data", test.reference)
			}
		}
		_, err := store.Stat(t.Context(), "missing")
		wantKind(t, err, storeerr.NotFound)
	})
}

func FuzzDecodeFrame(f *testing.F) {
	f.Add([]byte(goldenChunk))
	f.Add(frame("ZLTM", 1, 0, join(manifestHead(1, 32, 1), manifestChunk(0, "r"))))
	f.Fuzz(func(t *testing.T, payload []byte) {
		// Bytes with a right head and CRC reach what stands behind those checks.
		for _, p := range [][]byte{payload, frame("ZLTC", 1, 0, payload), frame("ZLTM", 1, 0, payload)} {
			got, err := blob.DecodeFrame(p)
			if err != nil && (got != nil || storeerr.KindOf(err) != storeerr.Integrity) {
				t.Errorf("%x: %+v with error %v", p, got, err)
			}
			if got != nil && (got.Chunk == nil) == (got.Manifest == nil) {
				t.Errorf("%x: %+v is not one of the two", p, got)
			}
		}
	})
}
