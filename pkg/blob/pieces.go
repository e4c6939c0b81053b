package blob

// Reading in pieces: what the frame of a large blob says, without holding more
// of the blob than a piece.

import (
	"context"
	"errors"
	"hash/crc32"
	"io"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// pieceBytes is how much of a blob one reply holds.
const pieceBytes = 1 << 20

// maxManifestBytes is the longest frame of a manifest.
const maxManifestBytes = frameHeaderBytes + manifestHeadBytes + MaxManifestChunks*(manifestChunkBytes+MaxReferenceBytes) + frameCRCBytes

// pieces reads a blob from its beginning, a piece at a time. Each piece is of
// its own moment.
type pieces struct {
	ctx   context.Context
	store *Store
	key   string
	at    int64
	piece string // what of the last reply is not read yet
}

// Read implements io.Reader.
func (p *pieces) Read(into []byte) (int, error) {
	if p.piece == "" {
		piece, err := p.store.rdb.GetRange(p.ctx, p.key, p.at, p.at+pieceBytes-1).Result()
		if err != nil {
			return 0, err
		}
		if piece == "" {
			return 0, io.EOF
		}
		p.piece = piece
		p.at += int64(len(piece))
	}
	n := copy(into, p.piece)
	p.piece = p.piece[n:]
	return n, nil
}

// errUnsound says that what was read in pieces is no whole frame: it is damaged,
// or the blob became another one meanwhile.
var errUnsound = errors.New("no whole frame")

// frameInPieces returns the frame of a blob with such a size, its data left
// out: that of a chunk goes to data. The error is errUnsound, one of Redis, or
// ErrCRC, along with a frame that is whole except for its CRC.
func (s *Store) frameInPieces(ctx context.Context, reference string, size int64, data io.Writer) (*Frame, error) {
	all := &pieces{ctx: ctx, store: s, key: s.Key(reference)}
	sum := crc32.New(castagnoli)
	covered := io.TeeReader(io.LimitReader(all, size-frameCRCBytes), sum)
	head := make([]byte, frameHeaderBytes)
	if _, err := io.ReadFull(covered, head); err != nil {
		return nil, ended(err)
	}
	kind := kindOf(head)
	if checkHeader(head, size) != nil || kind == KindBytes || kind == KindManifest && size > maxManifestBytes {
		return nil, errUnsound
	}
	frame, err := bodyInPieces(kind, covered, size-frameHeaderBytes-frameCRCBytes, data)
	if err != nil {
		return nil, err
	}
	want := make([]byte, frameCRCBytes)
	if _, err := io.ReadFull(all, want); err != nil {
		return nil, ended(err)
	}
	return frame, checkCRC(sum.Sum32(), want)
}

func bodyInPieces(kind Kind, body io.Reader, length int64, data io.Writer) (*Frame, error) {
	if kind == KindManifest {
		whole := make([]byte, length)
		if _, err := io.ReadFull(body, whole); err != nil {
			return nil, ended(err)
		}
		frame, err := decodeBody(kind, whole)
		if err != nil {
			return nil, errUnsound
		}
		return frame, nil
	}
	head := make([]byte, chunkHeadBytes)
	if _, err := io.ReadFull(body, head); err != nil {
		return nil, ended(err)
	}
	fields := reader{rest: head}
	chunk := &Chunk{Order: fields.uint32(), Length: fields.uint32()}
	if int64(chunk.Length) != length-chunkHeadBytes {
		return nil, errUnsound
	}
	sum := crc32.New(castagnoli)
	if n, err := io.Copy(io.MultiWriter(sum, data), body); err != nil || n != int64(chunk.Length) {
		return nil, ended(err)
	}
	chunk.CRC32C = sum.Sum32()
	return &Frame{Chunk: chunk}, nil
}

// ended turns the end of a blob that came too early into errUnsound.
func ended(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errUnsound
	}
	return err
}

// ReadChunk writes the data of the chunk that a blob holds to data, in pieces,
// and returns the chunk without it. It has the errors of Read, and is
// storeerr.Integrity when the blob is no whole chunk or becomes another one
// meanwhile; a part of what was there may have gone to data then. A chunk that
// is whole except for its CRC comes along with ErrCRC.
func (s *Store) ReadChunk(ctx context.Context, reference string, data io.Writer) (Chunk, error) {
	info, exists, err := s.look(ctx, reference)
	if err != nil {
		return Chunk{}, err
	}
	if !exists {
		return Chunk{}, missing(reference)
	}
	frame, err := s.frameInPieces(ctx, reference, info.Size, data)
	switch {
	case errors.Is(err, ErrCRC) && frame.Chunk != nil:
		return *frame.Chunk, s.damaged(reference, err)
	case errors.Is(err, ErrCRC), errors.Is(err, errUnsound), err == nil && frame.Chunk == nil:
		return Chunk{}, storeerr.New(storeerr.Integrity, "blob %q is no whole chunk", reference).AtKey(s.Key(reference))
	case err != nil:
		return Chunk{}, s.readError(err, reference)
	}
	return *frame.Chunk, nil
}
