// The blob store: a payload cut into chunks, the manifest that puts them
// together, and a blob that is just bytes.

package sample

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
)

const (
	chunkBytes    = 64 << 10
	blobRetention = 7 * 24 * time.Hour
)

func fillBlobs(ctx context.Context, store *blob.Store) error {
	payload := []byte(strings.Repeat("world-7 at revision 20,481. ", 6000))
	var parts []blob.ManifestChunk
	for data := range slices.Chunk(payload, chunkBytes) {
		part := blob.ManifestChunk{
			Order:     uint32(len(parts)),
			Reference: fmt.Sprintf("relocation/world-7/%d", len(parts)),
			Length:    uint64(len(data)),
			CRC32C:    castagnoli(data),
		}
		if err := put(ctx, store, part.Reference, chunkFrame(part.Order, data)); err != nil {
			return err
		}
		parts = append(parts, part)
	}
	if err := put(ctx, store, "relocation/world-7", manifestFrame(payload, parts)); err != nil {
		return err
	}
	return put(ctx, store, "notes/readme", []byte("a blob may hold any bytes\n"))
}

func put(ctx context.Context, store *blob.Store, reference string, payload []byte) error {
	_, err := store.Put(ctx, reference, payload, blobRetention.Milliseconds())
	return err
}

// chunkFrame is a part of a payload as the applications store it.
func chunkFrame(order uint32, data []byte) []byte {
	var body bytes.Buffer
	write(&body, order, uint32(len(data)), data)
	return frame("ZLTC", body.Bytes())
}

// manifestFrame says how the parts of a payload are put together.
func manifestFrame(payload []byte, parts []blob.ManifestChunk) []byte {
	digest := sha256.Sum256(payload)
	var body bytes.Buffer
	write(&body, uint8(1), uint64(len(payload)), castagnoli(payload), uint8(len(digest)), digest, uint32(len(parts)))
	for _, p := range parts {
		write(&body, p.Order, uint16(len(p.Reference)), []byte(p.Reference), p.Length, p.CRC32C)
	}
	return frame("ZLTM", body.Bytes())
}

// frame puts a head and a checksum around a body.
func frame(magic string, body []byte) []byte {
	var out bytes.Buffer
	write(&out, []byte(magic), uint8(1), uint16(0), uint32(len(body)), body)
	write(&out, castagnoli(out.Bytes()))
	return out.Bytes()
}

// write appends values of fixed size, which cannot fail on a buffer.
func write(to *bytes.Buffer, values ...any) {
	for _, v := range values {
		_ = binary.Write(to, binary.BigEndian, v)
	}
}

func castagnoli(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }
