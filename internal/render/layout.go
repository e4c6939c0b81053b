// Layout: which columns of a table are shown, and how wide. On a terminal the
// widest text columns are shortened until a row fits, the key last. Where that
// is not enough the header goes on in a second line, and then columns are left
// out, those that are spare first and then the last ones; results that are for
// reading are given a field a line instead. Off a terminal nothing is shortened.

package render

import (
	"slices"
	"strings"
)

// layout is how a batch of rows is laid out.
type layout struct {
	columns []int // those shown
	widths  []int // of these
	tall    bool  // the header has a line for each word
}

// each returns a text of each column shown.
func (l layout) each(text func(column, width int) string) []string {
	out := make([]string, len(l.columns))
	for at, i := range l.columns {
		out[at] = text(i, l.widths[at])
	}
	return out
}

// layOut lays out the rows met so far, or tells by upright that they do not
// fit.
func (t *table) layOut() layout {
	columns := make([]int, len(t.heads))
	for i := range columns {
		columns[i] = i
	}
	fitted, ok := t.squeeze(columns)
	if ok || t.upright {
		return fitted
	}
	if t.whole && !t.inner {
		t.upright = true
		return fitted
	}
	for _, name := range t.spare {
		if at := slices.Index(t.names, name); at >= 0 && !ok {
			columns = slices.DeleteFunc(columns, func(i int) bool { return i == at })
			t.leaveOut(at)
			fitted, ok = t.squeeze(columns)
		}
	}
	for n := len(fitted.columns); !ok && n > 1 && fitted.total() > t.limit; n-- {
		t.leaveOut(fitted.columns[n-1])
		fitted.columns, fitted.widths = fitted.columns[:n-1], fitted.widths[:n-1]
	}
	if len(fitted.widths) == 1 {
		fitted.widths[0] = min(fitted.widths[0], t.limit)
	}
	return fitted
}

// total is how many columns of the terminal a row takes.
func (l layout) total() int {
	total := gap * (len(l.widths) - 1)
	for _, w := range l.widths {
		total += w
	}
	return total
}

func (t *table) leaveOut(column int) {
	if !slices.Contains(t.leftOut, t.names[column]) {
		t.leftOut = append(t.leftOut, t.names[column])
	}
}

// squeeze gives columns what they need, or less where the row would not fit the
// terminal, and tells whether it does.
func (t *table) squeeze(columns []int) (l layout, fits bool) {
	for _, tall := range []bool{false, true} {
		l = layout{columns: columns, tall: tall}
		for _, i := range columns {
			l.widths = append(l.widths, max(t.natural[i], t.headWidth(i, tall)))
		}
		over := l.total() - t.limit
		for fits = t.limit <= 0 || over <= 0; !fits; fits = over <= 0 {
			at := t.widest(l)
			if at < 0 {
				break
			}
			l.widths[at]--
			over--
		}
		if fits {
			return l, true
		}
	}
	return l, false
}

// headWidth is the width of a column's header, 0 where there is none.
func (t *table) headWidth(column int, tall bool) int {
	switch {
	case !t.headers:
		return 0
	case tall:
		return longestWord(t.heads[column])
	}
	return width(t.heads[column])
}

// headLines returns the header as lines.
func (t *table) headLines(l layout) [][]string {
	if !l.tall {
		return [][]string{l.each(func(i, width int) string { return shorten(t.heads[i], width) })}
	}
	height := 1
	for _, i := range l.columns {
		height = max(height, 1+strings.Count(t.heads[i], " "))
	}
	out := make([][]string, height)
	for n := range out {
		out[n] = l.each(func(i, width int) string {
			heads := strings.Split(t.heads[i], " ")
			// All end on the last line.
			if at := n - height + len(heads); at >= 0 {
				return shorten(heads[at], width)
			}
			return ""
		})
	}
	return out
}

// widest returns the column to be shortened next, by its place among those
// shown, or -1 when none may be.
func (t *table) widest(l layout) int {
	next, key := -1, -1
	for at, i := range l.columns {
		switch w := l.widths[at]; {
		case t.kinds[i] > text || w <= max(t.least(i), t.headWidth(i, l.tall)):
		case i == t.key:
			key = at
		case next < 0 || w > l.widths[next]:
			next = at
		}
	}
	if next < 0 {
		return key
	}
	return next
}

// least is the width below which a text column is not shortened. A number that
// is cut short would be another number: it is not asked for those.
func (t *table) least(column int) int {
	least := minText
	if column == t.key {
		least = minKey
	}
	switch {
	case !t.whole || t.flows[column] == cut:
	case t.flows[column] == words:
		least = max(t.longest[column], min(minWords, t.natural[column]))
	case !t.inner:
		least = t.natural[column]
	}
	if t.inner {
		least = min(least, minWords)
	}
	return least
}
