// Compression: by the file's name where an archive is written, by its first
// bytes where it is read, so that a pipe and a renamed file read as well.

package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// windowBytes is how far back zstd looks. It bounds memory on both sides.
const windowBytes = 1 << 20

// maxWindowBytes is the furthest that an archive of others may look back.
const maxWindowBytes = 32 << 20

// Compress returns a writer onto w that compresses as the name asks: .gz by
// gzip, .zst by zstd, anything else not at all. Close ends the compressed
// stream, and leaves w open.
func Compress(w io.Writer, name string) (io.WriteCloser, error) {
	switch {
	case strings.HasSuffix(name, ".gz"):
		return gzip.NewWriter(w), nil
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(windowBytes), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return nil, fmt.Errorf("compressing: %w", err)
		}
		return z, nil
	}
	return plain{w}, nil
}

type plain struct{ io.Writer }

func (plain) Close() error { return nil }

// Decompress returns a reader of what r holds, compressed or not. Close frees
// what it needs, and leaves r open. A compressed stream that is cut off or
// altered reads as ErrDamaged.
func Decompress(r io.Reader) (io.ReadCloser, error) {
	source := &source{Reader: r}
	in := bufio.NewReaderSize(source, bufferBytes)
	// What is too short to tell is not compressed.
	head, err := in.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading the archive: %w", err)
	}
	d := &decompressor{source: source}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		d.ReadCloser, err = gzip.NewReader(in)
	case isZstd(head):
		var z *zstd.Decoder
		z, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindowBytes), zstd.WithDecoderLowmem(true))
		if err == nil {
			d.ReadCloser = z.IOReadCloser()
		}
	default:
		return io.NopCloser(in), nil
	}
	if err != nil {
		return nil, d.failed(err)
	}
	return d, nil
}

// isZstd tells whether four bytes begin a frame of zstd, or one that is to be
// skipped, which pzstd puts before each other one.
func isZstd(head []byte) bool {
	return bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(head) == 4 && head[0]&0xf0 == 0x50 && bytes.Equal(head[1:], []byte{0x2a, 0x4d, 0x18})
}

// source remembers that it has failed, to tell that from what it holds being
// damaged.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

type decompressor struct {
	io.ReadCloser
	source *source
}

func (d *decompressor) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = d.failed(err)
	}
	return n, err
}

func (d *decompressor) failed(err error) error {
	if d.source.err != nil {
		return fmt.Errorf("reading the archive: %w", d.source.err)
	}
	return damaged("the compressed stream does not read: %w", err)
}
