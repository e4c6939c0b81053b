// Lines as they are written: appended into one buffer, without reflection.

package archive

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxText is the longest value that is written as text. What is longer is no
// text to look at, and in base64 it goes out in pieces.
const maxText = 1 << 20

// line appends the fields of one JSON object to buf.
type line struct {
	buf []byte
}

func (l *line) open(kind string) {
	l.buf = append(l.buf, `{"kind":"`...)
	l.buf = append(l.buf, kind...)
	l.buf = append(l.buf, '"')
}

func (l *line) close() { l.buf = append(l.buf, '}', '\n') }

func (l *line) name(name, suffix string) {
	l.buf = append(l.buf, ',', '"')
	l.buf = append(l.buf, name...)
	l.buf = append(l.buf, suffix...)
	l.buf = append(l.buf, '"', ':')
}

// text appends bytes as a string, or in base64 under a name that says so where
// they are no valid UTF-8 or shorter that way.
func (l *line) text(name string, v []byte) {
	mark := len(l.buf)
	if utf8.Valid(v) {
		l.name(name, "")
		start := len(l.buf)
		// It fails for invalid UTF-8 alone.
		l.buf, _ = jsontext.AppendQuote(l.buf, v)
		if len(l.buf)-start <= max(2+base64.StdEncoding.EncodedLen(len(v)), shortText) {
			return
		}
		l.buf = l.buf[:mark]
	}
	l.name(name, base64Suffix)
	l.buf = append(l.buf, '"')
	l.buf = base64.StdEncoding.AppendEncode(l.buf, v)
	l.buf = append(l.buf, '"')
}

// shortText is the length up to which text stays text, however many escapes it
// needs.
const shortText = 256

const base64Suffix = "_base64"

func (l *line) string(name, v string) { l.text(name, []byte(v)) }

func (l *line) number(name string, v int64) {
	l.name(name, "")
	l.buf = strconv.AppendInt(l.buf, v, 10)
}

// moment appends ms since the epoch; 0 is null.
func (l *line) moment(name string, ms int64) {
	if ms == 0 {
		l.null(name)
		return
	}
	l.number(name, ms)
}

func (l *line) null(name string) {
	l.name(name, "")
	l.buf = append(l.buf, "null"...)
}

func (l *line) flag(name string, v bool) {
	if v {
		l.name(name, "")
		l.buf = append(l.buf, "true"...)
	}
}

// optional appends a string, or null where it is empty.
func (l *line) optional(name, v string) {
	if v == "" {
		l.null(name)
		return
	}
	l.string(name, v)
}

// head appends all fields of a record but its value.
func (l *line) head(r *Record) {
	l.open(string(r.Kind))
	switch r.Kind {
	case Chunk:
		l.optional("namespace", r.Namespace)
		l.string("segment", r.Segment)
		l.number("chunk", int64(r.Chunk))
		l.string("token", r.Token)
	case Blob:
		l.string("reference", r.Key)
		l.moment("expires_at_ms", r.ExpiresAt)
	default:
		l.string("key", r.Key)
		l.string("version", r.Version)
		l.moment("expires_at_ms", r.ExpiresAt)
		l.flag("tombstone", r.Tombstone)
		l.flag("history", r.History)
	}
}
