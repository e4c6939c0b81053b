// What keys and values look like, as fields of a record: --decode, inspect.

package cmd

import (
	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/shapes"
)

func addDecode(c *cobra.Command, decode *bool) {
	c.Flags().BoolVar(decode, "decode", false, "say what keys and values look like, and show values decoded")
}

// recordKeyShape appends what a key of the versioned store looks like.
func recordKeyShape(r *render.Record, key string) {
	shape := shapes.DescribeKey(key)
	if shape.Label == "" {
		r.Null("shape")
	} else {
		r.Text("shape", shape.Label)
	}
	segments := make([]segmentOfKey, len(shape.Segments))
	for i, s := range shape.Segments {
		segments[i] = segmentOfKey(s)
	}
	render.List(r, "segments", segments)
}

// recordValueShape appends what the value of a key looks like, decoded: JSON as
// itself, numbers and text as text; bytes stay bytes and are not repeated.
func recordValueShape(r *render.Record, key, value string) {
	shape := shapes.DescribeValue(key, value)
	r.Text("form", string(shape.Form))
	switch shape.Form {
	case shapes.JSON:
		r.JSON("decoded", shape.Compact(), shape.Lines())
	case shapes.Integer, shapes.Text:
		r.Lines("decoded", value, shape.Lines())
	default:
		r.Null("decoded")
	}
	notes := make([]noteRecord, len(shape.Notes))
	for i, n := range shape.Notes {
		notes[i] = noteRecord(n)
	}
	render.List(r, "notes", notes)
}

// segmentOfKey is a part of a key.
type segmentOfKey shapes.Segment

func (s segmentOfKey) Record(r *render.Record) {
	recordText(r, "name", s.Name)
	r.Bytes("value", s.Value)
}

// noteRecord says what a part of a value means.
type noteRecord shapes.Note

func (n noteRecord) Record(r *render.Record) {
	r.Text("path", n.Path)
	r.Text("note", n.Text)
}
