// One page of a scan, and the cursor for the next: scan --page.

package cmd

import (
	"context"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

func (o *scanOptions) runPage(ctx context.Context, f *Factory) error {
	format, err := f.format(false)
	if err != nil {
		return err
	}
	document := format == render.JSON || format == render.YAML
	fields := o.fields()
	if document {
		fields.Rows = "rows"
	}
	out, err := f.printer(fields)
	if err != nil {
		return err
	}
	store, err := f.opaque(reads)
	if err != nil {
		return err
	}
	ctx, cancel := f.operation(ctx)
	defer cancel()
	page, err := store.Page(ctx, o.ScanOptions)
	if err != nil {
		return err
	}
	out.SetNow(page.Snapshot.Now)
	records := make([]render.Recorder, len(page.Rows))
	for i, row := range page.Rows {
		records[i] = o.record(row)
	}
	if document {
		err = out.One(pageRecord{page, records})
	} else {
		err = printAll(out, records)
		if page.Next != nil {
			f.tell("next cursor", "%s", page.Next)
		}
	}
	if err != nil {
		return err
	}
	var damaged damage
	for _, err := range page.Damaged {
		damaged.add(f, err)
	}
	return damaged.err()
}

// pageRecord is a page as one document.
type pageRecord struct {
	*opaque.Page
	rows []render.Recorder
}

func (p pageRecord) Record(r *render.Record) {
	render.List(r, "rows", p.rows)
	if p.Next == nil {
		r.Null("next_cursor")
	} else {
		r.Text("next_cursor", p.Next.String())
	}
	r.Object("snapshot", snapshotRecord{p.Snapshot})
}

// snapshotRecord is the moment that a page belongs to.
type snapshotRecord struct{ opaque.Snapshot }

func (s snapshotRecord) Record(r *render.Record) {
	r.Text("id", s.ID)
	r.Bytes("prefix", s.Prefix)
	r.Text("boundary", s.Boundary)
	r.Time("now", s.Now)
}
