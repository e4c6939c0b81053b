package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"slices"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// largeLine is the length from which a line's memory is handed over with the
// record's value, and not used again.
const largeLine = 4 << 20

// Reader reads an archive. It is not safe for concurrent use.
type Reader struct {
	in     *bufio.Reader
	line   []byte // the last one read, reused
	number int
	sum    hash.Hash
	header Header
	counts Counts
	bad    int64 // lines of no record
	end    *Trailer
	err    error
}

// BadLine is the cause of an error that concerns one line alone: whoever wants
// may go on with the next one.
type BadLine struct {
	Line   int // its number, from 1
	Reason error
}

// Error says what is wrong with which line.
func (b *BadLine) Error() string { return fmt.Sprintf("line %d: %v", b.Line, b.Reason) }

// Unwrap returns the reason.
func (b *BadLine) Unwrap() error { return b.Reason }

// ErrDamaged is in the chain of every error of an archive that was cut off or
// altered, and of which nothing more can be read.
var ErrDamaged = errors.New("the archive is damaged")

// ErrAltered is in the chain beside ErrDamaged where every line reads, and the
// counts or the sum are wrong: what was altered, lost or added is not known.
var ErrAltered = errors.New("it is not as it was written")

func damaged(format string, args ...any) error {
	reason := fmt.Errorf("%w: %w", ErrDamaged, fmt.Errorf(format, args...))
	return storeerr.New(storeerr.Integrity, "%w", reason)
}

// NewReader reads the header of an archive that is not compressed. Where there
// is none the error is storeerr.Integrity.
func NewReader(r io.Reader) (*Reader, error) {
	a := &Reader{in: bufio.NewReaderSize(r, bufferBytes), sum: sha256.New()}
	err := a.next()
	if err == nil {
		if a.header, err = decodeHeader(a.line); err != nil {
			err = storeerr.New(storeerr.Integrity, "line 1: %w", err)
		}
	}
	return a, err
}

// Header is what the archive says of where it comes from.
func (a *Reader) Header() Header { return a.header }

// Line is the number of the line that was read last, from 1.
func (a *Reader) Line() int { return a.number }

// Trailer is the end of the archive, once Read has returned io.EOF; else nil.
func (a *Reader) Trailer() *Trailer { return a.end }

// Read returns the next record, and io.EOF behind the last one of an archive
// that is whole. An error with a *BadLine concerns that line alone, and Read
// may be called again. Any other error stays: with ErrDamaged the archive is
// cut off or altered. Both are storeerr.Integrity.
//
// Once a line was bad the counts and the sum end nothing any more: see Doubts.
func (a *Reader) Read() (Record, error) {
	if a.err != nil {
		return Record{}, a.err
	}
	if a.err = a.next(); a.err != nil {
		return Record{}, a.err
	}
	o := object{rest: a.line}
	kind, err := o.kind()
	var r Record
	switch {
	case err != nil:
	case kind == trailerKind:
		a.err = a.finish()
		return Record{}, a.err
	case kind != string(Row) && kind != string(Blob) && kind != string(Chunk):
		err = fmt.Errorf("a record is a row, blob or chunk, not a %.64q", kind)
	default:
		r, err = decodeRecord(Kind(kind), o)
	}
	if err != nil {
		a.bad++
		return Record{}, storeerr.New(storeerr.Integrity, "%w", &BadLine{a.number, err})
	}
	a.keep(&r)
	a.counts.Add(&r)
	return r, nil
}

// Records yields what Read returns, until an error that stays or the end.
func (a *Reader) Records() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for {
			r, err := a.Read()
			if errors.Is(err, io.EOF) || !yield(r, err) || a.err != nil {
				return
			}
		}
	}
}

// keep gives the record a value of its own.
func (a *Reader) keep(r *Record) {
	if len(a.line) >= largeLine {
		a.line = nil
		return
	}
	r.Value = slices.Clone(r.Value)
}

// next reads a line and counts it into the sum.
func (a *Reader) next() error {
	a.line = a.line[:0]
	for {
		piece, err := a.in.ReadSlice('\n')
		a.grow(len(piece))
		a.line = append(a.line, piece...)
		switch {
		case len(a.line) > MaxLineBytes:
			return damaged("line %d is longer than any record", a.number+1)
		case err == nil:
			a.number++
			a.count()
			return nil
		case err == io.EOF && len(a.line) == 0:
			return damaged("it ends behind line %d, without a trailer", a.number)
		case err == io.EOF:
			return damaged("it ends in line %d", a.number+1)
		case !errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("reading the archive: %w", err)
		}
	}
}

// grow makes room. A line that is large already may be as large as any: what
// is set aside and not filled takes no memory, where growing would copy.
func (a *Reader) grow(n int) {
	if size := len(a.line) + n; size > largeLine && size > cap(a.line) {
		a.line = append(make([]byte, 0, MaxLineBytes+bufferBytes), a.line...)
	}
}

// count adds the line to the sum, unless it is the trailer.
func (a *Reader) count() {
	if !bytes.HasPrefix(a.line, []byte(`{"kind":"`+trailerKind+`"`)) {
		a.sum.Write(a.line)
	}
}

// finish compares the trailer with what was read.
func (a *Reader) finish() error {
	t, err := decodeTrailer(a.line)
	if err != nil {
		return damaged("line %d: %w", a.number, err)
	}
	if a.bad == 0 && t.Counts != a.counts {
		return damaged("%w: it holds %d records, and its trailer counts %d", ErrAltered, a.counts.Total(), t.Total())
	}
	if sum := a.sha256(); a.bad == 0 && t.SHA256 != sum {
		return damaged("%w: the SHA-256 of its lines is %s, and its trailer says %s", ErrAltered, sum, t.SHA256)
	}
	if _, err := a.in.Peek(1); err != io.EOF {
		if err != nil {
			return fmt.Errorf("reading the archive: %w", err)
		}
		return damaged("line %d: more follows the trailer", a.number+1)
	}
	a.end = &t
	return io.EOF
}

func (a *Reader) sha256() string { return hex.EncodeToString(a.sum.Sum(nil)) }

// Doubts are what the trailer says against an archive that was read to its end:
// that records are not there which were damaged in the store; and where lines
// were bad, that others were lost or may have been altered too.
func (a *Reader) Doubts() (doubts []error) {
	if a.end == nil {
		return nil
	}
	if n := a.end.Damaged; n > 0 {
		doubts = append(doubts, fmt.Errorf("the archive lacks records that were damaged when it was made: %d", n))
	}
	if a.bad > 0 && a.sha256() != a.end.SHA256 {
		doubts = append(doubts, errors.New("the archive is not as it was written: beside its bad lines, others may have been altered too"))
	}
	if has, counted := a.counts.Total()+a.bad, a.end.Total(); has != counted {
		doubts = append(doubts, fmt.Errorf("the archive has %d lines between its header and its trailer, which counts %d records", has, counted))
	}
	return doubts
}
