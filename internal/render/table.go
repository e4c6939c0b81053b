// Tables: rows are gathered into batches, and each batch is laid out with what
// the ones before it needed, so that a long scan neither waits for its end nor
// is held in memory. On a terminal the widest text columns are shortened until
// a row fits, the key last, and where that is not enough the last columns are
// left out; off a terminal nothing is shortened to fit.

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
)

// table lays out rows of the same columns.
type table struct {
	heads  []string // the header
	key    int      // the column that is shortened last, or -1
	limit  int      // columns of the terminal, or 0
	color  bool
	ragged bool // no spaces after the last column

	rows    [][]cell
	headed  bool   // the header is printed, or none is wanted
	kinds   []kind // of each column, as met so far
	natural []int  // the width of each column, as met so far
}

func newTable(columns []string, key string, o *Options) *table {
	t := &table{key: -1, limit: o.Width, color: o.Color}
	t.headed = o.Headers != nil && !*o.Headers
	t.kinds = make([]kind, len(columns))
	t.natural = make([]int, len(columns))
	for i, column := range columns {
		t.heads = append(t.heads, strings.ToUpper(strings.ReplaceAll(column, "_", " ")))
		if column == key {
			t.key = i
		}
		if !t.headed {
			t.natural[i] = width(t.heads[i])
		}
	}
	return t
}

// render prints the rows gathered since the last time, and before the first
// the header.
func (t *table) render(w io.Writer) error {
	for _, row := range t.rows {
		for i, c := range row {
			t.kinds[i] = max(t.kinds[i], c.kind)
			t.natural[i] = max(t.natural[i], width(c.text))
		}
	}
	widths := t.fit()
	out := tablewriter.NewTable(w, tablewriter.WithRenderer(&lines{table: t, widths: widths})).Configure(verbatim)
	if !t.headed {
		out.Header(t.shortened(widths, func(i int) string { return t.heads[i] }))
	}
	for _, row := range t.rows {
		if err := out.Append(t.shortened(widths, func(i int) string { return row[i].text })); err != nil {
			return err
		}
	}
	t.headed = true
	t.rows = t.rows[:0]
	return out.Render()
}

// verbatim turns off all that would change a cell or split a row.
func verbatim(c *tablewriter.Config) {
	c.Header.Formatting = tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off}
	c.Row.Formatting = tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off}
	c.Behavior = tw.Behavior{AutoHide: tw.Off, TrimSpace: tw.Off, TrimTab: tw.Off, TrimLine: tw.Off}
}

func (t *table) shortened(widths []int, text func(int) string) []string {
	out := make([]string, len(widths))
	for i, limit := range widths {
		out[i] = shorten(text(i), limit)
	}
	return out
}

// fit returns the width of each column that is shown: what it needs, or less
// where the row would not fit the terminal.
func (t *table) fit() []int {
	widths := slices.Clone(t.natural)
	if t.limit <= 0 {
		return widths
	}
	over := gap*(len(widths)-1) - t.limit
	for _, w := range widths {
		over += w
	}
	for ; over > 0; over-- {
		at := t.widest(widths)
		if at < 0 {
			break
		}
		widths[at]--
	}
	widths = widths[:t.fitting(widths)]
	if len(widths) == 1 {
		widths[0] = min(widths[0], t.limit)
	}
	return widths
}

// fitting returns how many columns fit the terminal whole, but at least one: a
// number that is cut short would be another number.
func (t *table) fitting(widths []int) int {
	used := 0
	for i, w := range widths {
		if used += w; i > 0 && used > t.limit {
			return i
		}
		used += gap
	}
	return len(widths)
}

// widest returns the column to be shortened next, or -1 when none may be.
func (t *table) widest(widths []int) int {
	at := -1
	for i, w := range widths {
		if i != t.key && t.kinds[i] <= text && w > max(minText, width(t.heads[i])) && (at < 0 || w > widths[at]) {
			at = i
		}
	}
	if at < 0 && t.key >= 0 && t.kinds[t.key] <= text && widths[t.key] > minKey {
		return t.key
	}
	return at
}
