// Tables: rows are gathered into batches, and each batch is laid out with what
// the ones before it needed, so that a long scan neither waits for its end nor
// is held in memory. How wide the columns are is the matter of layout.go.

package render

import (
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"
)

const (
	batchRows = 500 // rows that are laid out together
	gap       = 2   // spaces between columns
	minText   = 8   // no text column is shortened below this
	minKey    = 20  // nor the key below this
	minWords  = 16  // nor is a sentence broken into lines below this
)

// table lays out rows of the same columns.
type table struct {
	names  []string // the fields
	heads  []string // the header
	key    int      // the column that is shortened last, or -1
	spare  []string // the columns that are left out first
	limit  int      // columns of the terminal, or 0
	color  bool
	ragged bool // no spaces after the last column
	whole  bool // sentences go on in the next line
	inner  bool // within a report: no row is given a field a line

	rows    [][]cell
	headers bool   // a header is wanted
	shown   []int  // the columns under the last header, nil before there is one
	upright bool   // rows are given a field a line from now on
	written bool   // something is printed
	kinds   []kind // of each column, as met so far
	flows   []flow // the same
	natural []int  // the width of each column's cells, as met so far
	longest []int  // the width of each column's longest word
	leftOut []string
}

func newTable(columns []string, f Fields, o *Options) *table {
	t := &table{
		names: columns, key: slices.Index(columns, f.key()), spare: f.Spare, limit: o.Width, color: o.Color, whole: f.Whole,
		headers: o.Headers == nil || *o.Headers,
	}
	n := len(columns)
	t.kinds, t.flows, t.natural, t.longest = make([]kind, n), make([]flow, n), make([]int, n), make([]int, n)
	for _, column := range columns {
		t.heads = append(t.heads, strings.ToUpper(strings.ReplaceAll(column, "_", " ")))
	}
	return t
}

// render prints the rows gathered since the last time, and before the first
// the header.
func (t *table) render(w io.Writer) error {
	t.measure()
	l := t.layOut()
	if t.upright {
		return t.blocks(w)
	}
	drawn := &lines{table: t, layout: l}
	out := tablewriter.NewTable(w, tablewriter.WithRenderer(drawn)).Configure(verbatim)
	if t.headers && !slices.Equal(t.shown, l.columns) {
		t.shown = l.columns
		out.Header(l.each(func(i, _ int) string { return t.heads[i] }))
	}
	for _, row := range t.rows {
		for _, line := range t.broken(row, l) {
			if err := out.Append(line); err != nil {
				return err
			}
		}
	}
	t.written = true
	t.rows = t.rows[:0]
	return out.Render()
}

// measure takes the gathered rows into account.
func (t *table) measure() {
	for _, row := range t.rows {
		for i, c := range row {
			t.kinds[i] = max(t.kinds[i], c.kind)
			t.flows[i] = max(t.flows[i], c.flow)
			t.natural[i] = max(t.natural[i], width(c.text))
			if t.whole && c.flow == words {
				t.longest[i] = max(t.longest[i], longestWord(c.text))
			}
		}
	}
}

func longestWord(s string) (widest int) {
	for word := range strings.SplitSeq(s, " ") {
		widest = max(widest, width(word))
	}
	return widest
}

// verbatim turns off all that would change a cell or split a row.
func verbatim(c *tablewriter.Config) {
	c.Header.Formatting = tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off}
	c.Row.Formatting = tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off}
	c.Behavior = tw.Behavior{AutoHide: tw.Off, TrimSpace: tw.Off, TrimTab: tw.Off, TrimLine: tw.Off}
}

// broken returns the lines of a row: one, but where sentences go on.
func (t *table) broken(row []cell, l layout) [][]string {
	parts := make([][]string, len(l.columns))
	height := 1
	for at, i := range l.columns {
		parts[at] = []string{row[i].text}
		if t.whole && row[i].flow == words {
			parts[at] = wrap(row[i].text, l.widths[at])
		}
		height = max(height, len(parts[at]))
	}
	out := make([][]string, height)
	for n := range out {
		out[n] = make([]string, len(parts))
		for at, part := range parts {
			if n < len(part) {
				out[n][at] = shorten(part[n], l.widths[at])
			}
		}
	}
	return out
}

// blocks prints the gathered rows a field a line, with an empty line between
// them.
func (t *table) blocks(w io.Writer) error {
	for _, row := range t.rows {
		var out []byte
		if t.written {
			out = append(out, '\n')
		}
		if _, err := w.Write(appendUpright(out, t.names, row, t.limit, false)); err != nil {
			return err
		}
		t.written = true
	}
	t.rows = t.rows[:0]
	return nil
}
