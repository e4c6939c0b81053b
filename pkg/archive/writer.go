package archive

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
)

const (
	bufferBytes = 64 << 10 // what is gathered before it is written
	pieceBytes  = 48 << 10 // of a large value at a time; a multiple of three
)

// Writer writes an archive. It is not safe for concurrent use. Once writing
// has failed, all calls return that error.
type Writer struct {
	w       io.Writer
	line    line
	sum     hash.Hash
	trailer Trailer
	err     error
}

// NewWriter returns a Writer onto w that begins with a header. Nothing is
// written before some lines are gathered: see Flush.
func NewWriter(w io.Writer, h Header) *Writer {
	a := &Writer{w: w, sum: sha256.New()}
	a.line.buf = appendHeader(nil, &h)
	return a
}

// Write writes a record.
func (a *Writer) Write(r *Record) error {
	if a.err != nil {
		return a.err
	}
	a.line.head(r)
	switch {
	case len(r.Value) > maxText:
		a.large(r.Value)
	case !r.Tombstone:
		a.line.text("value", r.Value)
	}
	a.line.close()
	a.trailer.Add(r)
	if len(a.line.buf) >= bufferBytes {
		a.flush()
	}
	return a.err
}

// large writes a value in base64, piece by piece.
func (a *Writer) large(v []byte) {
	a.line.name("value", base64Suffix)
	a.line.buf = append(a.line.buf, '"')
	for len(v) > 0 {
		n := min(pieceBytes, len(v))
		a.line.buf = base64.StdEncoding.AppendEncode(a.line.buf, v[:n])
		v = v[n:]
		a.flush()
	}
	a.line.buf = append(a.line.buf, '"')
}

// Flush writes what is gathered, for a reader that should not have to wait.
func (a *Writer) Flush() error {
	a.flush()
	return a.err
}

func (a *Writer) flush() {
	if a.err == nil && len(a.line.buf) > 0 {
		a.sum.Write(a.line.buf)
		a.write()
	}
}

func (a *Writer) write() {
	if _, err := a.w.Write(a.line.buf); err != nil {
		a.err = fmt.Errorf("writing the archive: %w", err)
	}
	a.line.buf = a.line.buf[:0]
}

// Counts are what was written so far.
func (a *Writer) Counts() Counts { return a.trailer.Counts }

// End writes the trailer, which says how many records are missing because they
// were damaged, and returns it. Without it an archive reads as cut off.
func (a *Writer) End(damaged int64) (Trailer, error) {
	a.flush()
	if a.err != nil {
		return a.trailer, a.err
	}
	a.trailer.Damaged = damaged
	a.trailer.SHA256 = hex.EncodeToString(a.sum.Sum(nil))
	a.line.buf = appendTrailer(a.line.buf, &a.trailer)
	a.write()
	return a.trailer, a.err
}
