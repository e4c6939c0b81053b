// Cells: the forms of values in tables and tsv. A cell is one line and safe to
// show; its width is that of its grapheme clusters on a terminal, the same
// under every locale.

package render

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/dustin/go-humanize"

	"github.com/keyspacectl/keyspacectl/internal/keyformat"
)

// previewWidth is the width to which tables shorten values.
const previewWidth = 64

// kind says how a column of such cells is laid out.
type kind int

const (
	absent kind = iota // the result has no such field
	text               // may be shortened
	fixed              // is never shortened
	number             // is never shortened, and aligned right
)

// flow says what becomes of a text that is wider than its place, where results
// are shown whole.
type flow int

const (
	cut   flow = iota // a preview: it is shortened
	whole             // a key: it is never broken, so that it can be copied
	words             // a sentence: it goes on in the next line
)

type cell struct {
	text string
	kind kind
	flow flow
	more []string // further lines, of a report
}

func showBytes(format Format, v string) string {
	if format == Raw {
		return v
	}
	return keyformat.Escape(v)
}

func showValue(format Format, v string) string {
	if format != Table {
		return showBytes(format, v)
	}
	// No more than the beginning of a large value needs a look.
	head := v
	if end := 16 * previewWidth; len(v) > end {
		for back := 1; back < utf8.UTFMax && !utf8.RuneStart(v[end]); back++ {
			end--
		}
		head = v[:end]
	}
	shown := shorten(keyformat.Escape(head), previewWidth)
	if len(head) < len(v) && !strings.HasSuffix(shown, "…") {
		shown += "…"
	}
	return shown
}

func showJSON(format Format, v string) string {
	if format == Table {
		return shorten(v, previewWidth)
	}
	return v
}

func showSize(format Format, bytes int64) string {
	if format == Table && bytes >= 0 {
		return humanize.IBytes(uint64(bytes))
	}
	return strconv.FormatInt(bytes, 10)
}

func showMoment(o *Options, ms int64, none string) string {
	switch {
	case ms == 0 && o.Format == Table:
		return none
	case ms == 0:
		return ""
	case o.Time == Unix:
		return showUnix(ms)
	case ms < minRFC3339 || ms > maxRFC3339:
		// Too far away for words.
	case o.Time == Relative, o.Time == "" && o.Format == Table:
		return showRelative(ms - o.Now)
	}
	return string(appendRFC3339(nil, ms))
}

// showUnix returns seconds with three decimals, exact to the ms.
func showUnix(ms int64) string {
	digits := strconv.FormatInt(ms, 10)
	sign := ""
	if ms < 0 {
		sign, digits = "-", digits[1:]
	}
	digits = strings.Repeat("0", max(0, 4-len(digits))) + digits
	whole := len(digits) - 3
	return sign + digits[:whole] + "." + digits[whole:]
}

// showRelative returns how far away a moment is, in ms.
func showRelative(away int64) string {
	switch {
	case away >= 1000:
		return "in " + showSpan(away)
	case away <= -1000:
		return showSpan(-away) + " ago"
	}
	return "now"
}

// showSpan returns the two leading units of a span of at least a second.
func showSpan(ms int64) string {
	const minute, hour, day = 60, 60 * 60, 24 * 60 * 60
	switch s := ms / 1000; {
	case s < minute:
		return units(s, "s", 0, "")
	case s < hour:
		return units(s/minute, "m", s%minute, "s")
	case s < day:
		return units(s/hour, "h", s%hour/minute, "m")
	case s < 365*day:
		return units(s/day, "d", s%day/hour, "h")
	default:
		return units(s/(365*day), "y", s%(365*day)/day, "d")
	}
}

func units(major int64, unit string, minor int64, minorUnit string) string {
	if minor == 0 {
		return fmt.Sprint(major, unit)
	}
	return fmt.Sprint(major, unit, minor, minorUnit)
}

// width returns the columns that s takes on a terminal.
func width(s string) int { return displaywidth.Options{}.String(s) }

// shorten returns s in at most limit columns, its end replaced by … when it is
// longer.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return displaywidth.Options{}.TruncateString(s, limit, "…")
}

// wrap returns s as lines of at most limit columns, broken at spaces. A word
// that is wider stands alone on its line.
func wrap(s string, limit int) []string {
	if limit <= 0 || len(s) <= limit {
		return []string{s}
	}
	var lines []string
	line, used := "", 0
	for word := range strings.SplitSeq(s, " ") {
		w := width(word)
		if used > 0 && used+1+w > limit {
			lines = append(lines, line)
			line, used = "", 0
		}
		if used > 0 {
			word, w = " "+word, w+1
		}
		line, used = line+word, used+w
	}
	return append(lines, line)
}
