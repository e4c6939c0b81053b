// Laying a value out for reading. The JSON is known to be valid here, so that
// its own bytes can be copied as they are: only space between tokens changes.

package shapes

import "strings"

const (
	maxIndent  = 32      // levels that get lines of their own; what is deeper stays on one
	maxShort   = 60      // bytes of a container that stays on one line
	maxLaidOut = 4 << 20 // bytes of a layout; a value that would need more stays on one line
	noteMark   = "  ← "
)

// Compact is JSON without space between its tokens, and nothing for other
// forms.
func (s ValueShape) Compact() string {
	if s.Form != JSON {
		return ""
	}
	l := layout{src: s.value, compact: true}
	l.run()
	return string(l.out)
}

// Lines is the value laid out for reading: JSON indented, notes behind the
// lines that they are about; text line by line; bytes not at all. The lines may
// hold any characters of the value. Deep and very long JSON stays on one line.
func (s ValueShape) Lines() []string {
	switch s.Form {
	case JSON:
		l := layout{src: s.value, notes: s.Notes, ends: s.ends}
		if !l.run() {
			return []string{s.Compact()}
		}
		return strings.Split(string(l.out), "\n")
	case Integer, Text:
		lines := strings.Split(s.value, "\n")
		for _, n := range s.Notes {
			lines[0] += noteMark + n.Text
		}
		return lines
	}
	var lines []string
	for _, n := range s.Notes {
		lines = append(lines, strings.TrimLeft(noteMark, " ")+n.Text)
	}
	return lines
}

// layout copies JSON from src to out.
type layout struct {
	src     string
	compact bool
	notes   []Note
	ends    []int // where in src the part of each note ends

	out     []byte
	depth   int
	flat    int      // the depth from which on all stays on the line, or 0
	pending []string // notes on the line
}

// run lays out the whole of src, and tells whether that took no more than
// maxLaidOut.
func (l *layout) run() bool {
	if l.compact {
		l.flat = -1
	}
	for i := 0; i < len(l.src); {
		end := i + 1
		switch c := l.src[i]; c {
		case ' ', '\t', '\r', '\n':
		case '"':
			end = i + stringLength(l.src[i:])
			l.out = append(l.out, l.src[i:end]...)
		case '{', '[':
			l.open(i)
		case '}', ']':
			l.close(c)
		case ',':
			l.out = append(l.out, c)
			l.endLine(" ")
		case ':':
			l.out = append(l.out, c)
			l.space(" ")
		default:
			l.out = append(l.out, c)
		}
		i = end
		for len(l.ends) > 0 && l.ends[0] <= i {
			l.pending = append(l.pending, l.notes[0].Text)
			l.notes, l.ends = l.notes[1:], l.ends[1:]
		}
		if !l.compact && len(l.out) > maxLaidOut {
			return false
		}
	}
	l.flush()
	return true
}

func (l *layout) open(at int) {
	l.out = append(l.out, l.src[at])
	l.depth++
	if l.flat == 0 && (l.depth > maxIndent || isShort(l.src[at:], l.depth == 1)) {
		l.flat = l.depth
	}
	l.endLine("")
}

func (l *layout) close(c byte) {
	was := l.depth
	l.depth--
	l.endLine("")
	if l.flat == was {
		l.flat = 0
	}
	l.out = append(l.out, c)
}

// endLine begins the next line, or where all stays on the line puts between
// there.
func (l *layout) endLine(between string) {
	if l.flat != 0 {
		l.space(between)
		return
	}
	l.flush()
	l.out = append(l.out, '\n')
	for range l.depth {
		l.out = append(l.out, "  "...)
	}
}

func (l *layout) space(s string) {
	if !l.compact {
		l.out = append(l.out, s...)
	}
}

// flush writes the notes on the line behind it.
func (l *layout) flush() {
	if len(l.pending) > 0 {
		l.out = append(l.out, noteMark+strings.Join(l.pending, "; ")...)
		l.pending = l.pending[:0]
	}
}

// isShort tells whether the container that src begins with is empty, or holds
// scalars alone in a few bytes; an object of the outermost level is not.
func isShort(src string, outermost bool) bool {
	inner := 0 // bytes that are no space
	for i := 1; i < len(src) && i <= maxShort; {
		switch src[i] {
		case '{', '[':
			return false
		case '}', ']':
			return inner == 0 || !outermost || src[0] == '['
		case '"':
			i += stringLength(src[i:])
			inner++
			continue
		case ' ', '\t', '\r', '\n':
		default:
			inner++
		}
		i++
	}
	return false
}

// stringLength is how long the JSON string is that src begins with.
func stringLength(src string) int {
	for i := 1; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(src)
}
