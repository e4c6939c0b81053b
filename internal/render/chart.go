// Charts: figures as text, in groups of lines with a label, a value and a bar.

package render

import (
	"math"
	"strings"
)

// Chart is a group of lines under a title.
type Chart struct {
	Title string
	Lines []ChartLine
}

// ChartLine is a figure in a chart.
type ChartLine struct {
	Label string
	Value string
	Share float64 // the length of its bar, 0 to 1
}

const (
	maxBar   = 40 // columns of the longest bar
	minBar   = 10 // narrower ones are left out
	maxLabel = 40 // columns of a label, more are shortened
)

// Drawn appends a result within the result as [Record.Object] does, of which a
// report shows charts.
func (r *Record) Drawn(name string, v Recorder, charts []Chart) {
	r.Object(name, v)
	if c := r.cell(name); c != nil {
		r.report(c, Draw(charts, r.valueWidth()))
	}
}

// Draw returns charts as lines of at most so many columns, 0 for any number. All
// labels, values and bars stand below each other.
func Draw(charts []Chart, columns int) []string {
	labels, values := 0, 0
	for _, c := range charts {
		for _, l := range c.Lines {
			labels, values = max(labels, width(l.Label)), max(values, width(l.Value))
		}
	}
	bars := maxBar
	labels = min(labels, maxLabel)
	if columns > 0 {
		labels = min(labels, max(minText, columns-values-2*gap))
		bars = min(bars, columns-labels-values-3*gap)
	}
	var lines []string
	for _, c := range charts {
		lines = append(lines, c.Title)
		for _, l := range c.Lines {
			lines = append(lines, l.draw(labels, values, bars))
		}
	}
	return lines
}

func (l ChartLine) draw(labels, values, bars int) string {
	space := strings.Repeat(" ", gap)
	label := shorten(l.Label, labels)
	line := space + label + strings.Repeat(" ", labels-width(label)+gap+values-width(l.Value)) + l.Value
	if bar := Bar(l.Share, bars); bar != "" {
		line += space + bar
	}
	return line
}

// Bar returns a bar of a share, 0 to 1, of so many columns, in steps of an
// eighth of one. What is not nothing can be seen. Fewer columns than make a
// picture give none.
func Bar(share float64, columns int) string {
	if share <= 0 || columns < minBar {
		return ""
	}
	eighths := max(1, int(math.Round(min(share, 1)*float64(columns)*8)))
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return bar
}

// Span returns a length of time in ms in its two leading units: "3h12m".
func Span(ms int64) string {
	if ms < 1000 {
		return "0s"
	}
	return showSpan(ms)
}
