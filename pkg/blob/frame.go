package blob

// Frames: what applications put inside blobs. The store never looks at them.

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

const (
	frameMagicBytes  = 4
	frameHeaderBytes = frameMagicBytes + 1 + 2 + 4 // magic, version, flags, length of the body
	frameCRCBytes    = 4

	chunkMagic    = "ZLTC"
	manifestMagic = "ZLTM"

	// MaxManifestChunks is how many chunks a manifest names at most; it names
	// at least one.
	MaxManifestChunks = 4096
	// manifestChunkBytes is the least that one chunk of a manifest takes.
	manifestChunkBytes = 4 + 2 + 8 + 4
	// manifestHeadBytes is what stands before the chunks of a manifest.
	manifestHeadBytes = 1 + 8 + 4 + 1 + sha256.Size + 4
	// chunkHeadBytes is what stands before the data of a chunk: order, length.
	chunkHeadBytes = 4 + 4
)

// Frame is a decoded frame: exactly one of its fields is set.
type Frame struct {
	Chunk    *Chunk
	Manifest *Manifest
}

// Chunk is one part of a larger payload.
type Chunk struct {
	Order  uint32 // its place among the parts
	Length uint32 // bytes of Data
	CRC32C uint32 // of Data, computed: what a manifest names
	Data   []byte // shares memory with the payload decoded; left out by Stat
}

// Manifest says how a larger payload is put together.
type Manifest struct {
	TotalLength uint64   // bytes of the whole
	CRC32C      uint32   // of the whole
	SHA256      [32]byte // of the whole
	Chunks      []ManifestChunk
}

// ManifestChunk is one part as a manifest names it.
type ManifestChunk struct {
	Order     uint32
	Reference string // of the blob that holds the part
	Length    uint64 // bytes of the part's data
	CRC32C    uint32 // of the part's data
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Kind is what a payload begins as.
type Kind string

// The kinds.
const (
	KindBytes    Kind = "bytes"    // no frame
	KindChunk    Kind = "chunk"    // the frame of a Chunk
	KindManifest Kind = "manifest" // the frame of a Manifest
)

// KindOf returns what a payload begins as. Its first four bytes are enough.
func KindOf(payload []byte) Kind { return kindOf(payload) }

// kindOf returns what a payload with such a head is.
func kindOf(payload []byte) Kind {
	if len(payload) < frameMagicBytes {
		return KindBytes
	}
	switch string(payload[:frameMagicBytes]) {
	case chunkMagic:
		return KindChunk
	case manifestMagic:
		return KindManifest
	}
	return KindBytes
}

// ErrCRC is in the chain of what DecodeFrame returns, and of the damage that
// Stat finds, for a frame whose CRC-32C is wrong.
var ErrCRC = errors.New("the CRC-32C is wrong")

// DecodeFrame decodes the frame that a payload is, checking lengths and CRC.
// It returns nil and no error for a payload that does not begin as a frame
// does, and storeerr.Integrity for one that does and is no whole frame of a
// known version.
func DecodeFrame(payload []byte) (*Frame, error) {
	frame, err := decodeFrame(payload)
	if err != nil {
		return nil, err
	}
	return frame, nil
}

// decodeFrame is DecodeFrame, but that a frame which is whole except for its
// CRC comes along with the error.
func decodeFrame(payload []byte) (*Frame, error) {
	kind := kindOf(payload)
	if kind == KindBytes {
		return nil, nil
	}
	body, crcErr, err := openFrame(payload)
	var frame *Frame
	if err == nil {
		frame, err = decodeBody(kind, body)
	}
	if err = cmp.Or(crcErr, err); err != nil {
		err = storeerr.New(storeerr.Integrity, "decoding the frame of a %s: %w", kind, err)
	}
	return frame, err
}

// openFrame returns the body of a frame, and whether its CRC is right.
func openFrame(payload []byte) (body []byte, crcErr, err error) {
	if err := checkHeader(payload, int64(len(payload))); err != nil {
		return nil, nil, err
	}
	covered := payload[:len(payload)-frameCRCBytes]
	crcErr = checkCRC(crc32.Checksum(covered, castagnoli), payload[len(covered):])
	return covered[frameHeaderBytes:], crcErr, nil
}

// checkCRC compares a CRC with the one at the end of a frame.
func checkCRC(got uint32, end []byte) error {
	if want := binary.BigEndian.Uint32(end); got != want {
		return fmt.Errorf("%w: it is %08x, and the frame says %08x", ErrCRC, got, want)
	}
	return nil
}

// checkHeader tells what is wrong with the header of a frame of such a size.
func checkHeader(head []byte, size int64) error {
	header := reader{rest: head[frameMagicBytes:]}
	version, flags, length := header.uint8(), header.uint16(), header.uint32()
	switch {
	case header.short:
		return errShort
	case version != 1:
		return fmt.Errorf("version %d is not supported", version)
	case flags != 0:
		return fmt.Errorf("flags %#04x are not supported", flags)
	case size != frameHeaderBytes+int64(length)+frameCRCBytes:
		return fmt.Errorf("the body has %d bytes by its header, and the frame is %d long", length, size)
	}
	return nil
}

func decodeBody(kind Kind, bytes []byte) (*Frame, error) {
	body := reader{rest: bytes}
	var frame Frame
	var err error
	if kind == KindChunk {
		frame.Chunk, err = decodeChunk(&body)
	} else {
		frame.Manifest, err = decodeManifest(&body)
	}
	if err != nil {
		return nil, err
	}
	return &frame, nil
}

func decodeChunk(body *reader) (*Chunk, error) {
	chunk := Chunk{Order: body.uint32(), Length: body.uint32()}
	chunk.Data = body.bytes(uint64(chunk.Length))
	chunk.CRC32C = crc32.Checksum(chunk.Data, castagnoli)
	return &chunk, body.end()
}

func decodeManifest(body *reader) (*Manifest, error) {
	if format := body.uint8(); !body.short && format != 1 {
		return nil, fmt.Errorf("manifest format %d is not supported", format)
	}
	var m Manifest
	m.TotalLength, m.CRC32C = body.uint64(), body.uint32()
	if size := body.uint8(); !body.short && size != sha256.Size {
		return nil, fmt.Errorf("a SHA-256 has %d bytes, not %d", sha256.Size, size)
	}
	copy(m.SHA256[:], body.bytes(sha256.Size))
	count := body.uint32()
	if body.short {
		return nil, errShort
	}
	if count < 1 || count > MaxManifestChunks {
		return nil, fmt.Errorf("a manifest has 1 to %d chunks, not %d", MaxManifestChunks, count)
	}
	if len(body.rest) < int(count)*manifestChunkBytes {
		return nil, errShort
	}
	m.Chunks = make([]ManifestChunk, count)
	for i := range m.Chunks {
		c := &m.Chunks[i]
		c.Order = body.uint32()
		c.Reference = string(body.bytes(uint64(body.uint16())))
		c.Length, c.CRC32C = body.uint64(), body.uint32()
		if body.short {
			return nil, errShort
		}
		if err := checkReference(c.Reference); err != nil {
			return nil, fmt.Errorf("chunk %d of the manifest: %s", i, err) //nolint:errorlint // damage, where the cause alone is a bad argument
		}
	}
	return &m, body.end()
}

var errShort = errors.New("it ends too early")

// reader takes big-endian numbers and bytes from a slice. Once there are too
// few, short is set and all it gives is zero.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) bytes(n uint64) []byte {
	if r.short || n > uint64(len(r.rest)) {
		r.short = true
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) number(n uint64) (v uint64) {
	for _, b := range r.bytes(n) {
		v = v<<8 | uint64(b)
	}
	return v
}

func (r *reader) uint8() uint8   { return uint8(r.number(1)) }
func (r *reader) uint16() uint16 { return uint16(r.number(2)) }
func (r *reader) uint32() uint32 { return uint32(r.number(4)) }
func (r *reader) uint64() uint64 { return r.number(8) }

// end tells whether all was there and nothing is left.
func (r *reader) end() error {
	if r.short {
		return errShort
	}
	if len(r.rest) > 0 {
		return fmt.Errorf("%d bytes too many stand in its body", len(r.rest))
	}
	return nil
}
