// Reports: what a result shows beyond a line a field when it is printed alone,
// as a table, with a field a line. Values are laid out over lines of their own
// there, and lists are small tables; everywhere else the same fields keep to
// one line.

package render

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/keyspacectl/keyspacectl/internal/keyformat"
)

// JSON appends a JSON value, which is compact and valid, as a part of the
// result: in JSON and YAML itself, with its own digits and order. A report
// shows lines in its place.
func (r *Record) JSON(name, compact string, lines []string) {
	if c := r.cell(name); c != nil {
		*c = cell{text: showJSON(r.options.Format, keyformat.Printable(compact)), kind: text}
		r.report(c, lines)
	} else if r.open(name, "") {
		r.buf = appendJSON(r.buf, compact, r.options.Format)
	}
}

// Lines appends bytes as [Record.Value] does, of which a report shows lines.
func (r *Record) Lines(name, v string, lines []string) {
	r.Value(name, v)
	if c := r.cell(name); c != nil {
		r.report(c, lines)
	}
}

// report gives a cell of a report its lines.
func (r *Record) report(c *cell, lines []string) {
	if !r.upright || len(lines) == 0 {
		return
	}
	safe := make([]string, len(lines))
	for i, line := range lines {
		safe[i] = keyformat.Printable(line)
	}
	c.text, c.more = safe[0], safe[1:]
}

// appendUpright appends the fields of a result, one a line, with their names.
// Keys are not broken, so that they can be copied from the terminal; sentences
// go on in the next line, and what is a preview is cut. 0 columns are any number.
func appendUpright(out []byte, names []string, cells []cell, columns int, headed bool) []byte {
	widest := 0
	if headed {
		widest = len("FIELD")
	}
	for i, c := range cells {
		if c.kind != absent {
			widest = max(widest, len(names[i]))
		}
	}
	limit := 0
	if columns > 0 {
		limit = max(minText, columns-widest-gap)
	}
	if headed {
		out = append(out, "FIELD"+strings.Repeat(" ", widest+gap-len("FIELD"))+"VALUE\n"...)
	}
	for i, c := range cells {
		if c.kind == absent {
			continue
		}
		name := names[i]
		for _, text := range slices.Concat([]string{c.text}, c.more) {
			for _, line := range c.flow.lines(text, limit) {
				out = append(out, strings.TrimRight(name+strings.Repeat(" ", widest+gap-len(name))+line, " ")...)
				out = append(out, '\n')
				name = ""
			}
		}
	}
	return out
}

// lines returns a text as lines of at most so many columns, if it may be broken
// or cut; 0 are any number.
func (f flow) lines(text string, columns int) []string {
	switch {
	case f == words:
		return wrap(text, columns)
	case f == cut && columns > 0:
		return []string{shorten(text, columns)}
	}
	return []string{text}
}

// valueWidth is what a report's names leave of the terminal, 0 for any width.
func (r *Record) valueWidth() int {
	if r.options.Width <= 0 {
		return 0
	}
	widest := 0
	for _, column := range r.columns {
		widest = max(widest, len(column))
	}
	return max(1, r.options.Width-gap-widest)
}

// appendJSON appends a JSON value. Unsafe characters can only stand in its
// strings, where an escape means the same.
func appendJSON(buf []byte, compact string, format Format) []byte {
	if format == YAML {
		// YAML does not know the escapes of JSON that come in pairs.
		plain, err := jsontext.AppendFormat(nil, []byte(compact), jsontext.AllowDuplicateNames(true))
		if err != nil {
			return appendString(buf, compact)
		}
		compact = string(plain)
	}
	for _, char := range compact {
		if keyformat.Unsafe(char) {
			buf = appendEscape(buf, char)
		} else {
			buf = append(buf, string(char)...)
		}
	}
	return buf
}

// Columned is a result that says which of its fields are columns where a report
// shows a list of it; without that all are.
type Columned interface {
	Columns() []string
}

// listLines lays a list of results out as a table of so many columns of the
// terminal. It has the fields that the results have.
func listLines[T Recorder](items []T, o *Options, width int) []string {
	found := Record{options: o, columns: []string{}, gather: true}
	if c, ok := any(items[0]).(Columned); ok {
		found.columns, found.gather = c.Columns(), false
		found.cells = make([]cell, len(found.columns))
	}
	var rows [][]cell
	for _, v := range items {
		found.take(v)
		rows = append(rows, slices.Clone(found.cells))
	}
	for i := len(found.columns) - 1; i >= 0; i-- {
		has := func(row []cell) bool { return i < len(row) && row[i].kind != absent }
		if slices.ContainsFunc(rows, has) {
			continue
		}
		found.columns = slices.Delete(slices.Clone(found.columns), i, i+1)
		for at, row := range rows {
			rows[at] = slices.Delete(row, min(i, len(row)), min(i+1, len(row)))
		}
	}
	headed := true
	inner := Options{Format: Table, Headers: &headed, Width: width}
	t := newTable(found.columns, Fields{Whole: true}, &inner)
	t.ragged, t.inner = true, true
	for _, row := range rows {
		t.rows = append(t.rows, append(row, make([]cell, len(found.columns)-len(row))...))
	}
	var out bytes.Buffer
	if err := t.render(&out); err != nil {
		return nil // a buffer takes everything
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}
