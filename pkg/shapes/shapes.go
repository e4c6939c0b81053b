// Package shapes says what keys and values of the versioned store look like:
// labels for a reader, after the shapes that applications are known to use
// (docs/storage.md). Nothing depends on them, nothing is changed by them, and
// what fits no known shape is named for what it is: text, JSON, an integer or
// bytes.
package shapes

// Form is what bytes are, whatever they mean.
type Form string

// The forms.
const (
	Empty   Form = "empty"
	JSON    Form = "json"    // an object or an array, of valid UTF-8
	Integer Form = "integer" // ASCII decimal, of any length
	Text    Form = "text"    // valid UTF-8 without control characters but tabs and line ends
	Bytes   Form = "bytes"   // anything else
)

// kind is a known shape: how a key is put together, and what its value is.
type kind struct {
	label string
	form  Form // of the value; empty means any
	names []string
	check func(segments []string) bool // nil takes any
}

// Segment is a part of a key.
type Segment struct {
	Name  string // what it stands for, empty where that is not known
	Value string
}

// Note says what a part of a value means.
type Note struct {
	Path string // a JSON pointer to the part; empty for the whole value
	Text string
}
