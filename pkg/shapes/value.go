// Values: their form, and what is worth telling of it.

package shapes

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ValueShape is what a value looks like.
type ValueShape struct {
	Form Form
	// Label is the known shape that key and value have together, such as
	// "owner lease"; empty where they have none.
	Label string
	// Notes say what parts of the value mean, at most 256 of them, in the order
	// of the value.
	Notes []Note

	value string
	ends  []int // where in value the part of each note ends
}

// String is the shape in a word or some: its label, or else its form.
func (s ValueShape) String() string { return cmp.Or(s.Label, string(s.Form)) }

// DescribeValue says what the value of a logical key looks like. Any bytes
// will do; the work and the memory are in proportion to the value.
func DescribeValue(key, value string) ValueShape {
	k := DescribeKey(key).kind
	s := ValueShape{Form: formOf(value), value: value}
	if s.Form == JSON && !s.readJSON(k) {
		s.Form, s.Notes, s.ends = textOrBytes(value), nil, nil
	}
	switch {
	case k.label == "":
	case k.form != "" && k.form != s.Form:
		s.note("", len(value), fmt.Sprintf("%s holds %s elsewhere, and this is %s", k.label, k.form, s.Form))
	default:
		s.Label = k.label
		if k.label == counterLabel {
			s.note("", len(value), counterNote(value))
		}
	}
	return s
}

// exhausted is the value of a counter that has nothing left to hand out.
const exhausted = "9223372036854775807"

func counterNote(value string) string {
	if value == exhausted {
		return "exhausted: there is no next value"
	}
	return "the next value to hand out"
}

// formOf tells the form by the first look: JSON is still to be read.
func formOf(value string) Form {
	switch {
	case value == "":
		return Empty
	case isDecimal(value):
		return Integer
	}
	if begin := strings.TrimLeft(value, " \t\r\n"); begin != "" && (begin[0] == '{' || begin[0] == '[') {
		return JSON
	}
	return textOrBytes(value)
}

func textOrBytes(value string) Form {
	control := func(r rune) bool {
		return r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r >= 0x7f && r <= 0x9f
	}
	if !utf8.ValidString(value) || strings.ContainsFunc(value, control) {
		return Bytes
	}
	return Text
}

// maxNotes bounds the notes of a value.
const maxNotes = 256

// note adds a note on the part of the value that ends at end.
func (s *ValueShape) note(path string, end int, text string) {
	if len(s.Notes) < maxNotes {
		s.Notes = append(s.Notes, Note{Path: path, Text: text})
		s.ends = append(s.ends, end)
	}
}

// bytesNote says what base64 text holds; it is empty where that is none.
func bytesNote(text string) string {
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	switch {
	case err != nil:
		return ""
	case len(data) > 0 && len(data) <= 64 && textOrBytes(string(data)) == Text:
		return fmt.Sprintf("%d bytes: %s", len(data), data)
	}
	return fmt.Sprintf("%d bytes", len(data))
}
