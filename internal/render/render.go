// Package render prints results for people and for programs.
//
// A result says once what it holds, through [Recorder]; a [Printer] makes a
// table, tsv, JSON, NDJSON, YAML or the bare bytes of it. What a terminal
// sees is safe (see package keyformat) and keeps to one line a row; what a
// program reads is exact.
//
// Where the formats differ: JSON, NDJSON and YAML give all fields, sizes as
// numbers and times in RFC 3339; bytes that are no valid UTF-8 are given in
// base64, under the field's name with _base64 added. Tables and tsv give the
// shown fields or those of Options.Columns, bytes in their escaped form.
package render

import (
	"fmt"
	"slices"
	"strings"
)

// Format is a form of output.
type Format string

// The formats.
const (
	Table  Format = "table"  // aligned columns, values as previews
	TSV    Format = "tsv"    // the same columns, whole, separated by tabs
	JSON   Format = "json"   // one document: an object, or an array of them
	NDJSON Format = "ndjson" // an object a line
	YAML   Format = "yaml"   // one document
	Raw    Format = "raw"    // the bytes of one value and nothing else
)

// Formats returns all formats.
func Formats() []Format { return []Format{Table, TSV, JSON, NDJSON, YAML, Raw} }

// ParseFormat returns the format of that name, or an error that lists them.
func ParseFormat(name string) (Format, error) {
	return parse("output format", name, Formats())
}

// TimeStyle is a form of moments in tables and tsv.
type TimeStyle string

// The styles.
const (
	Relative TimeStyle = "relative" // "in 3h12m", "5m ago"; the default of tables
	RFC3339  TimeStyle = "rfc3339"  // in UTC with milliseconds; the default of tsv
	Unix     TimeStyle = "unix"     // seconds since 1970 with three decimals
)

// TimeStyles returns all styles.
func TimeStyles() []TimeStyle { return []TimeStyle{Relative, RFC3339, Unix} }

// ParseTimeStyle returns the style of that name, or an error that lists them.
func ParseTimeStyle(name string) (TimeStyle, error) {
	return parse("time style", name, TimeStyles())
}

func parse[T ~string](what, name string, known []T) (T, error) {
	if slices.Contains(known, T(name)) {
		return T(name), nil
	}
	return "", fmt.Errorf("unknown %s %q: one of %s", what, name, join(known))
}

func join[T ~string](names []T) string {
	var out strings.Builder
	for i, name := range names {
		if i > 0 {
			out.WriteString(", ")
		}
		out.WriteString(string(name))
	}
	return out.String()
}

// Options say how to print. The zero value but for Format is good for a pipe.
type Options struct {
	Format  Format
	Columns []string  // the fields to print; empty means those the result shows. Raw ignores it
	Headers *bool     // a header line; nil means tables have one and tsv has none
	Time    TimeStyle // empty means the default of the format
	Width   int       // columns of the terminal, to which tables are shortened; 0 shortens none
	Color   bool      // whether tables may use colour
	Now     int64     // the moment that relative times refer to, ms since 1970
	// LeftOut, if not nil, is told at the end of a table which columns the
	// terminal was too narrow for.
	LeftOut func(columns []string)
}

// Fields names what a kind of result may hold, so that a choice of columns can
// be checked before there is a result.
type Fields struct {
	Shown  []string // the columns of tables and tsv, in order; the first is the key, shortened last
	Hidden []string // further fields, columns only when asked for
	Raw    string   // the field whose bytes Raw prints; empty means that Raw is refused
	Rows   string   // the list of a document whose results have these fields, and not the document; empty for others
	Spare  []string // columns that a narrow terminal does without first, in this order
	Whole  bool     // results are for reading: where a terminal is too narrow, their texts go on in the next line or they are given a field a line
}

// Check returns an error, fit for a usage message, when a result with these
// fields cannot be printed as o says.
func (f Fields) Check(o Options) error {
	if _, err := ParseFormat(string(o.Format)); err != nil {
		return err
	}
	if o.Format == Raw && f.Raw == "" {
		return fmt.Errorf("output format raw is for commands that give one value")
	}
	for i, column := range o.Columns {
		if slices.Contains(o.Columns[:i], column) {
			return fmt.Errorf("column %q is named twice", column)
		}
		if !slices.Contains(f.Shown, column) && !slices.Contains(f.Hidden, column) {
			return fmt.Errorf("unknown column %q: one of %s", column, join(slices.Concat(f.Shown, f.Hidden)))
		}
	}
	return nil
}

// columns returns the columns of tables, tsv and raw output.
func (f Fields) columns(o Options) []string {
	switch {
	case o.Format == Raw:
		return []string{f.Raw}
	case len(o.Columns) > 0:
		return o.Columns
	}
	return f.Shown
}

// key returns the column that is shortened last.
func (f Fields) key() string {
	if len(f.Shown) == 0 {
		return ""
	}
	return f.Shown[0]
}
