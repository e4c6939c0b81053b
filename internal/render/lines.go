// The look of a table: columns two spaces apart, no borders, a header in upper
// case, numbers aligned right.
//
// tablewriter's own renderers measure rune by rune and by the locale: they
// take 👍🏽 for four columns, and … for two under zh_CN. Lines are drawn here
// by grapheme clusters instead, the same everywhere, and without touching
// settings that are global to the process.

package render

import (
	"bytes"
	"io"

	"github.com/olekukonko/ll"
	"github.com/olekukonko/tablewriter/tw"
)

const (
	boldOn  = "\x1b[1m"
	boldOff = "\x1b[0m"
)

// lines is a tw.Renderer for cells that are laid out already.
type lines struct {
	table  *table
	layout layout
	out    io.Writer
	line   []byte
	err    error
}

var _ tw.Renderer = (*lines)(nil)

func (l *lines) Start(w io.Writer) error { l.out = w; return nil }

func (l *lines) Header(_ [][]string, _ tw.Formatting) {
	for _, header := range l.table.headLines(l.layout) {
		if l.table.color {
			l.line = append(l.line, boldOn...)
		}
		l.draw(header)
		if l.table.color {
			l.line = append(l.line, boldOff...)
		}
		l.end()
	}
}

func (l *lines) Row(row []string, _ tw.Formatting) {
	l.draw(row)
	l.end()
}

func (l *lines) draw(cells []string) {
	for i, c := range cells {
		if i > 0 {
			l.pad(gap)
		}
		space := l.layout.widths[i] - width(c)
		if l.table.kinds[l.layout.columns[i]] == number {
			l.pad(space)
			space = 0
		}
		l.line = append(l.line, c...)
		if i < len(cells)-1 || !l.table.ragged {
			l.pad(space)
		}
	}
}

func (l *lines) pad(n int) {
	l.line = append(l.line, bytes.Repeat([]byte{' '}, max(n, 0))...)
}

func (l *lines) end() {
	l.line = append(l.line, '\n')
	if l.err == nil {
		_, l.err = l.out.Write(l.line)
	}
	l.line = l.line[:0]
}

func (l *lines) Close() error                         { return l.err }
func (l *lines) Config() tw.Rendition                 { return tw.Rendition{} }
func (l *lines) Footer(_ [][]string, _ tw.Formatting) {}
func (l *lines) Line(tw.Formatting)                   {}
func (l *lines) Logger(*ll.Logger)                    {}
