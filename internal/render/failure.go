// What is said besides results: failures, and whether the reader is gone or a
// terminal would choke.

package render

import (
	"errors"
	"io"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/keyspacectl/keyspacectl/internal/keyformat"
)

// Failure is an error as it is told to the user.
type Failure struct {
	Code    int    // the exit status
	Kind    string // what went wrong, such as not_found
	Message string // one line, lower case
	Hint    string // what may be done about it, or empty
}

// Record appends the fields of f; a hint that is empty is null.
func (f Failure) Record(r *Record) {
	r.Int("code", int64(f.Code))
	r.Text("kind", f.Kind)
	r.Text("message", f.Message)
	if f.Hint == "" {
		r.Null("hint")
		return
	}
	r.Text("hint", f.Hint)
}

// Error writes f to w: with JSON and NDJSON as an object on one line, with any
// other format as a line that begins with error: and, where there is a hint,
// one that begins with hint:.
func Error(w io.Writer, format Format, f Failure) error {
	var r Record
	if format == JSON || format == NDJSON {
		r.object(f)
	} else {
		r.buf = append(r.buf, "error: "+keyformat.Printable(f.Message)...)
		if f.Hint != "" {
			r.buf = append(r.buf, "\nhint: "+keyformat.Printable(f.Hint)...)
		}
	}
	_, err := w.Write(append(r.buf, '\n'))
	return err
}

// IsBrokenPipe reports whether err comes of a reader that went away. The
// process must ignore SIGPIPE, or it is gone before the error arrives.
func IsBrokenPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// IsBinary reports whether a terminal should not be given data as it is: it is
// no valid UTF-8, or holds a control character other than tab and line ends.
func IsBinary(data []byte) bool {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 || unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' {
			return true
		}
		i += size
	}
	return false
}
