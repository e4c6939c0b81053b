// Every violation of the blob store, planted one by one and all together.
package verify_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
)

// blobPlant is one violation; want are the findings, as told, with a part of
// what each says that it found.
type blobPlant struct {
	name  string
	plant func(f *blobField)
	want  map[string]string
}

// blobPlants are all violations, each on blobs of its own.
func blobPlants() []blobPlant {
	ctx := context.Background()
	flip := func(text string, at int) string {
		b := []byte(text)
		b[at] ^= 1
		return string(b)
	}
	changed := func(reference string, change func(m *manifest)) func(f *blobField) {
		return func(f *blobField) {
			m := newManifest(reference, 10_000)
			change(&m)
			f.store3(m)
		}
	}
	return []blobPlant{
		{"no TTL", func(f *blobField) { f.put("lasting", "x", 0) }, map[string]string{"blob-no-ttl lasting": "none"}},
		{"too long", func(f *blobField) {
			f.put("long", "ZLTC", time.Hour)
			f.rdb.SetRange(ctx, f.store.Key("long"), blob.MaxPayloadBytes, "x")
		}, map[string]string{"blob-length long": "67108888 bytes"}},
		{"hash", func(f *blobField) { f.rdb.HSet(ctx, f.store.Key("hash"), "a", "b") }, map[string]string{"blob-type hash": "a hash"}},
		{"reference", func(f *blobField) {
			f.put("", "x", time.Hour)
			f.put("\xff", "x", time.Hour)
			f.put(strings.Repeat("r", blob.MaxReferenceBytes+1), "x", time.Hour)
		}, map[string]string{"blob-reference ": "0 bytes", "blob-reference \xff": `"\xff"`, "blob-reference " + strings.Repeat("r", blob.MaxReferenceBytes+1): "4097 bytes"}},
		{"CRC", func(f *blobField) { f.put("crc", flip(chunkFrame(0, []byte("hello")), 27), time.Hour) }, map[string]string{"blob-frame-crc crc": "the CRC-32C is wrong"}},
		{"CRC of a manifest", func(f *blobField) {
			m := f.payload("crc of manifest", 1000)
			f.put(m.reference, flip(manifestFrame(m.frame), 30), time.Hour)
		}, map[string]string{"blob-frame-crc crc of manifest": "the CRC-32C is wrong"}},
		{"large CRC", func(f *blobField) { f.put("large crc", flip(chunkFrame(0, make([]byte, 3<<20)), 2<<20), time.Hour) }, map[string]string{"blob-frame-crc large crc": "the CRC-32C is wrong"}},
		{"cut frame", func(f *blobField) { f.put("cut", chunkFrame(0, []byte("hello"))[:20], time.Hour) }, map[string]string{"blob-frame cut": "the frame is 20 long"}},
		{"frame of version 2", func(f *blobField) { f.put("v2", flip(flip(chunkFrame(0, nil), 4), 5), time.Hour) }, map[string]string{"blob-frame v2": "is not supported"}},
		{"manifest of nothing", func(f *blobField) { f.put("nothing", manifestFrame(blob.Manifest{}), time.Hour) }, map[string]string{"blob-frame nothing": "a manifest has 1 to 4096 chunks, not 0"}},
		{"missing chunk", func(f *blobField) {
			f.rdb.Del(ctx, f.store.Key(f.payload("one gone", 10_000).frame.Chunks[1].Reference))
		}, map[string]string{"blob-manifest-missing one gone": `no blob "one gone/1"`}},
		{"missing chunks", func(f *blobField) {
			m := f.payload("two gone", 10_000)
			f.rdb.Del(ctx, f.store.Key(m.frame.Chunks[0].Reference), f.store.Key(m.frame.Chunks[2].Reference))
		}, map[string]string{"blob-manifest-missing two gone": `no blob "two gone/0", and 1 more`}},
		{"chunk of other data", changed("data", func(m *manifest) { m.data[1] = bytes.Repeat([]byte("x"), len(m.data[1])) }), map[string]string{"blob-manifest-chunk data": `"data/1": order 1, 3334 bytes, CRC-32C`}},
		{"chunk of other length", changed("length", func(m *manifest) { m.data[1] = m.data[1][1:] }), map[string]string{"blob-manifest-chunk length": "3333 bytes"}},
		{"chunk of other order", func(f *blobField) {
			m := f.payload("order", 10_000)
			f.put("order/1", chunkFrame(7, m.data[1]), time.Hour)
		}, map[string]string{"blob-manifest-chunk order": "order 7"}},
		{"chunk of bytes", func(f *blobField) { f.payload("bytes", 10_000); f.put("bytes/1", "hello", time.Hour) }, map[string]string{"blob-manifest-chunk bytes": "no whole chunk"}},
		{"chunk with a flipped bit", func(f *blobField) {
			m := f.payload("flipped", 10_000)
			f.put("flipped/1", flip(chunkFrame(1, m.data[1]), 100), time.Hour)
		}, map[string]string{"blob-manifest-chunk flipped": "order 1, 3334 bytes", "blob-frame-crc flipped/1": "the CRC-32C is wrong"}},
		{"chunk with a wrong CRC alone", func(f *blobField) {
			m := f.payload("own crc", 10_000)
			frame := chunkFrame(1, m.data[1])
			f.put("own crc/1", flip(frame, len(frame)-1), time.Hour)
		}, map[string]string{"blob-frame-crc own crc/1": "the CRC-32C is wrong"}},
		{"total length", changed("total", func(m *manifest) { m.frame.TotalLength++ }), map[string]string{"blob-manifest-length total": "10000 bytes in 3 chunks"}},
		{"order of chunks", changed("unordered", func(m *manifest) { slices.Reverse(m.frame.Chunks); slices.Reverse(m.data) }), map[string]string{"blob-manifest-order unordered": "of order 1 behind one of order 2, and 1 more"}},
		{"SHA-256", changed("sha", func(m *manifest) { m.frame.SHA256[0]++ }), map[string]string{"blob-manifest-digest sha": "SHA-256"}},
		{"CRC of the whole", changed("whole crc", func(m *manifest) { m.frame.CRC32C++ }), map[string]string{"blob-manifest-digest whole crc": "CRC-32C"}},
	}
}
