// Putting many rows: put --from-ndjson.

package cmd

import (
	"context"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/bulk"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

func (o *putOptions) runRows(ctx context.Context, f *Factory) error {
	out, err := f.printer(render.Fields{Shown: []string{"put"}, Hidden: []string{"dry_run", "store_now"}})
	if err != nil {
		return err
	}
	file, store, err := f.linesInto(o.fromNDJSON, writes)
	if err != nil {
		return err
	}
	progress := f.progress("rows")
	defer progress.Stop()
	var noted manyWritten
	rows := items(linesOf(file, parsePut), func(m opaque.Mutation) opaque.Mutation { return m })
	result, err := bulk.Write(ctx, store, rows, bulk.Options{DryRun: o.dryRun, Applied: func(a *opaque.Applied) {
		progress.Add(int64(len(a.Written)))
		noted.add(a)
	}})
	progress.Stop()
	noted.tell(f)
	if err != nil {
		return stoppedAt(err, result, o.dryRun, "put "+count(int(result.Put), "row"), o.fromNDJSON, "put --from-ndjson")
	}
	out.SetNow(result.Now)
	return out.One(rowsRecord{result, o.dryRun, false})
}

// rowsRecord counts what became of many rows.
type rowsRecord struct {
	bulk.Result
	dryRun  bool
	deletes bool
}

func (d rowsRecord) Record(r *render.Record) {
	if d.deletes {
		r.Int("deleted", d.Deleted)
		r.Int("absent", d.Absent)
	} else {
		r.Int("put", d.Put)
	}
	if d.dryRun {
		r.Bool("dry_run", true)
	}
	r.Time("store_now", d.Now)
}
