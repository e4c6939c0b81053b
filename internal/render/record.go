// A record: the fields of one result, on their way into a format. JSON goes
// straight into one buffer that is reused, without reflection. Tables and tsv
// take the fields that are columns, and pass over the others before anything
// is formatted.

package render

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/keyspacectl/keyspacectl/internal/keyformat"
)

// Recorder is a result that can be printed.
type Recorder interface {
	// Record appends the fields of the result to r, in order.
	Record(r *Record)
}

// Record takes the fields of a result. Names are snake_case ASCII, each given
// once.
type Record struct {
	options *Options
	only    []string // the fields that JSON is limited to; empty means all
	rows    string   // the list whose items are limited in place of the whole; empty means none
	columns []string // the fields that become cells; nil means JSON
	cells   []cell
	buf     []byte // JSON
	upright bool   // the cells are those of a report
	gather  bool   // each new field becomes a column
}

// Bytes appends bytes that are shown whole: a key, a reference, a version.
func (r *Record) Bytes(name, v string) { r.bytes(name, v, whole, showBytes) }

// Value appends bytes of which tables show a preview, at most 64 columns wide.
func (r *Record) Value(name, v string) { r.bytes(name, v, cut, showValue) }

func (r *Record) bytes(name, v string, f flow, show func(Format, string) string) {
	if c := r.cell(name); c != nil {
		shown := show(r.options.Format, v)
		if r.options.Format == Table {
			// Rows are gathered, and a part of a value would keep the whole of it.
			shown = strings.Clone(shown)
		}
		*c = cell{text: shown, kind: text, flow: f}
		return
	}
	if utf8.ValidString(v) {
		if r.open(name, "") {
			r.buf = appendString(r.buf, v)
		}
	} else if r.open(name, "_base64") {
		r.buf = appendBase64(r.buf, v)
	}
}

// Text appends text of our own: a token, a kind, a message. It is a string in
// JSON, digits or not; invalid UTF-8 in it is replaced.
func (r *Record) Text(name, v string) {
	if c := r.cell(name); c != nil {
		*c = cell{text: keyformat.Printable(v), kind: text, flow: words}
	} else if r.open(name, "") {
		r.buf = appendString(r.buf, v)
	}
}

// Note appends a remark such as "(not found)" that tables alone show, in the
// place of a field that the result does not have.
func (r *Record) Note(name, remark string) {
	if c := r.cell(name); c != nil && r.options.Format == Table {
		*c = cell{text: keyformat.Printable(remark), kind: text, flow: words}
	}
}

// Int appends a number.
func (r *Record) Int(name string, v int64) {
	if c := r.cell(name); c != nil {
		*c = cell{text: strconv.FormatInt(v, 10), kind: number}
	} else if r.open(name, "") {
		r.buf = strconv.AppendInt(r.buf, v, 10)
	}
}

// Uint appends a number that may be above what an int64 holds.
func (r *Record) Uint(name string, v uint64) {
	if c := r.cell(name); c != nil {
		*c = cell{text: strconv.FormatUint(v, 10), kind: number}
	} else if r.open(name, "") {
		r.buf = strconv.AppendUint(r.buf, v, 10)
	}
}

// Float appends a number with at most three decimals.
func (r *Record) Float(name string, v float64) {
	digits := strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
	if c := r.cell(name); c != nil {
		*c = cell{text: digits, kind: number}
	} else if r.open(name, "") {
		r.buf = append(r.buf, digits...)
	}
}

// Size appends a number of bytes, which tables show as B, KiB, MiB.
func (r *Record) Size(name string, bytes int64) {
	if c := r.cell(name); c != nil {
		*c = cell{text: showSize(r.options.Format, bytes), kind: number}
	} else if r.open(name, "") {
		r.buf = strconv.AppendInt(r.buf, bytes, 10)
	}
}

// Bool appends true or false.
func (r *Record) Bool(name string, v bool) {
	if c := r.cell(name); c != nil {
		*c = cell{text: strconv.FormatBool(v), kind: fixed}
	} else if r.open(name, "") {
		r.buf = strconv.AppendBool(r.buf, v)
	}
}

// Null appends a field without a value: null in JSON, - in tables.
func (r *Record) Null(name string) { r.moment(name, 0, "-") }

// Time appends a moment in ms since 1970. 0 means none: null in JSON, - in
// tables. A moment past the years 0 to 9999 is given as the number of ms, in
// JSON as a string.
func (r *Record) Time(name string, ms int64) { r.moment(name, ms, "-") }

// Expiry appends a moment as [Record.Time] does; 0 reads never in tables.
func (r *Record) Expiry(name string, ms int64) { r.moment(name, ms, "never") }

func (r *Record) moment(name string, ms int64, none string) {
	if c := r.cell(name); c != nil {
		*c = cell{text: showMoment(r.options, ms, none), kind: fixed}
	} else if r.open(name, "") {
		r.buf = appendMoment(r.buf, ms)
	}
}

// Object appends a result within the result. Its cell is its JSON.
func (r *Record) Object(name string, v Recorder) {
	r.nest(name, func(r *Record) { r.object(v) })
}

// List appends a list of results. Its cell is its JSON, in a report a table.
func List[T Recorder](r *Record, name string, items []T) {
	if c := r.cell(name); c != nil && r.upright && len(items) > 0 {
		*c = cell{kind: text}
		r.report(c, listLines(items, r.options, r.valueWidth()))
		return
	}
	r.nest(name, func(r *Record) { appendList(r, items, func(v T) { r.object(v) }) })
}

// Ints appends a list of numbers. Its cell is its JSON.
func Ints[T ~int | ~int64 | ~uint32](r *Record, name string, items []T) {
	r.nest(name, func(r *Record) {
		appendList(r, items, func(v T) { r.buf = strconv.AppendInt(r.buf, int64(v), 10) })
	})
}

// Texts appends a list of texts. Its cell is its JSON, in a report a line each.
func Texts(r *Record, name string, items []string) {
	if c := r.cell(name); c != nil && r.upright && len(items) > 0 {
		*c = cell{kind: text, flow: words}
		r.report(c, items)
		return
	}
	r.nest(name, func(r *Record) {
		appendList(r, items, func(v string) { r.buf = appendString(r.buf, v) })
	})
}

func appendList[T any](r *Record, items []T, item func(T)) {
	r.buf = append(r.buf, '[')
	for i, v := range items {
		if i > 0 {
			r.buf = append(r.buf, ',')
		}
		item(v)
	}
	r.buf = append(r.buf, ']')
}

// nest lets write append the JSON of a field that has fields or items itself.
func (r *Record) nest(name string, write func(*Record)) {
	if c := r.cell(name); c != nil {
		inner := Record{options: r.options}
		write(&inner)
		*c = cell{text: showJSON(r.options.Format, string(inner.buf)), kind: text}
		return
	}
	if r.open(name, "") {
		only, rows := r.only, r.rows
		if rows == "" || name != rows {
			r.only = nil
		}
		r.rows = ""
		write(r)
		r.only, r.rows = only, rows
	}
}

// object appends v as a JSON object.
func (r *Record) object(v Recorder) {
	r.buf = append(r.buf, '{')
	v.Record(r)
	r.buf = append(r.buf, '}')
}

// open appends the name of a field to the JSON, and reports whether its value
// is to follow.
func (r *Record) open(name, suffix string) bool {
	if r.columns != nil || r.rows == "" && len(r.only) > 0 && !slices.Contains(r.only, name) {
		return false
	}
	if r.buf[len(r.buf)-1] != '{' {
		r.buf = append(r.buf, ',')
	}
	r.buf = append(r.buf, '"')
	r.buf = append(r.buf, name...)
	r.buf = append(r.buf, suffix...)
	r.buf = append(r.buf, '"', ':')
	return true
}

// cell returns the cell of a field that is a column, and nil otherwise.
func (r *Record) cell(name string) *cell {
	at := slices.Index(r.columns, name)
	if at < 0 && r.gather {
		at = len(r.columns)
		r.columns, r.cells = append(r.columns, name), append(r.cells, cell{})
	}
	if at < 0 {
		return nil
	}
	return &r.cells[at]
}

// take fills the cells from v.
func (r *Record) take(v Recorder) {
	clear(r.cells)
	v.Record(r)
}
