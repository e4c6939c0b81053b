// The printer: one result or a list of them, in any format, onto a writer.

package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// bufferSize is what is gathered before it is written.
const bufferSize = 64 << 10

// Printer prints results of one kind. Use either [Printer.One], or
// [Printer.Row] for each result and [Printer.End]. Once writing has failed,
// all calls return that error. A Printer is not safe for concurrent use.
type Printer struct {
	w       io.Writer
	options Options
	record  Record // its buf holds the output that is not written yet
	table   *table
	started bool
	err     error
}

// New returns a Printer onto w for results with these fields. It writes
// nothing; what [Fields.Check] refuses is an error.
func New(w io.Writer, o Options, f Fields) (*Printer, error) {
	if err := f.Check(o); err != nil {
		return nil, err
	}
	p := &Printer{w: w, options: o}
	p.record.options = &p.options
	switch o.Format {
	case Table, TSV, Raw:
		p.record.columns = f.columns(o)
		p.record.cells = make([]cell, len(p.record.columns))
	default:
		p.record.only, p.record.rows = o.Columns, f.Rows
	}
	if o.Format == Table {
		p.table = newTable(p.record.columns, f, &p.options)
	}
	return p, nil
}

// SetNow sets the moment that relative times refer to, in ms since 1970, for
// the results that follow.
func (p *Printer) SetNow(ms int64) { p.options.Now = ms }

// One prints a single result and writes it out: in JSON and YAML an object, in
// a table a line for each field it has, in tsv a row, in Raw the bytes of its
// raw field.
func (p *Printer) One(v Recorder) error {
	if p.err != nil {
		return p.err
	}
	switch p.options.Format {
	case Raw:
		p.record.take(v)
		p.write(io.WriteString(p.w, p.record.cells[0].text))
		return p.err
	case Table:
		p.upright(v)
	case TSV:
		_ = p.Row(v) // End returns its error
		return p.End()
	case YAML:
		p.record.object(v)
	default:
		p.record.object(v)
		p.record.buf = append(p.record.buf, '\n')
	}
	return p.Flush()
}

// upright appends the fields of v, one a line.
func (p *Printer) upright(v Recorder) {
	p.record.upright = true
	p.record.take(v)
	p.record.upright = false
	headed := p.options.Headers != nil && *p.options.Headers
	p.record.buf = appendUpright(p.record.buf, p.record.columns, p.record.cells, p.options.Width, headed)
}

// Row prints the next result of a list. It is gathered with others: call
// [Printer.Flush] where a reader should not have to wait for more.
func (p *Printer) Row(v Recorder) error {
	if p.err != nil {
		return p.err
	}
	p.start()
	switch p.options.Format {
	case Raw:
		return errors.New("output format raw prints one value, not a list")
	case Table:
		p.record.take(v)
		p.table.rows = append(p.table.rows, slices.Clone(p.record.cells))
		if len(p.table.rows) < batchRows {
			return nil
		}
		return p.Flush()
	case TSV:
		p.record.take(v)
		p.tsv(func(i int) string { return p.record.cells[i].text })
	case NDJSON:
		p.record.object(v)
		p.record.buf = append(p.record.buf, '\n')
	case JSON, YAML:
		p.record.object(v)
	}
	if len(p.record.buf) >= bufferSize {
		return p.Flush()
	}
	return p.err
}

// start appends what stands before a row.
func (p *Printer) start() {
	switch format := p.options.Format; {
	case format == JSON && p.started:
		p.record.buf = append(p.record.buf, ",\n"...)
	case format == JSON:
		p.record.buf = append(p.record.buf, "[\n"...)
	case format == YAML && len(p.record.buf) > 0:
		p.record.buf = append(p.record.buf, ',')
	case format == YAML:
		p.record.buf = append(p.record.buf, '[')
	case format == TSV && !p.started && p.options.Headers != nil && *p.options.Headers:
		p.tsv(func(i int) string { return p.record.columns[i] })
	}
	p.started = true
}

// End ends a list and writes out what is left; without a row the list is
// empty. After a failure call Flush instead: an array left open shows that it
// is not whole.
func (p *Printer) End() error {
	switch format := p.options.Format; {
	case format == JSON && p.started:
		p.record.buf = append(p.record.buf, "\n]\n"...)
	case format == JSON:
		p.record.buf = append(p.record.buf, "[]\n"...)
	case format == Table && !p.started:
		p.layOut()
	case !p.started:
		p.start()
	}
	err := p.Flush()
	if err == nil && p.table != nil && len(p.table.leftOut) > 0 && p.options.LeftOut != nil {
		p.options.LeftOut(p.table.leftOut)
	}
	return err
}

// Flush writes out what is gathered.
func (p *Printer) Flush() error {
	if p.table != nil && len(p.table.rows) > 0 {
		p.layOut()
	}
	if p.options.Format == YAML && len(p.record.buf) > 0 {
		p.toYAML()
	}
	if len(p.record.buf) > 0 && p.err == nil {
		p.write(p.w.Write(p.record.buf))
	}
	p.record.buf = p.record.buf[:0]
	return p.err
}

func (p *Printer) layOut() {
	out := bytes.NewBuffer(p.record.buf)
	if err := p.table.render(out); err != nil && p.err == nil {
		p.err = fmt.Errorf("laying out a table: %w", err)
	}
	p.record.buf = out.Bytes()
}

func (p *Printer) write(_ int, err error) {
	if err != nil {
		p.err = fmt.Errorf("writing output: %w", err)
	}
}

func (p *Printer) tsv(field func(int) string) {
	for i := range p.record.columns {
		if i > 0 {
			p.record.buf = append(p.record.buf, '\t')
		}
		p.record.buf = append(p.record.buf, field(i)...)
	}
	p.record.buf = append(p.record.buf, '\n')
}

// toYAML turns the JSON that is gathered, an object or the items of an array,
// into YAML.
func (p *Printer) toYAML() {
	json := p.record.buf
	if json[0] == '[' {
		json = append(json, ']')
	}
	out, err := toYAML(json)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("writing yaml: %w", err)
	}
	p.record.buf = append(json[:0], out...)
}
