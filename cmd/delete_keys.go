// Deleting many keys: delete --keys-from.

package cmd

import (
	"context"
	"fmt"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/bulk"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

func (o *deleteOptions) runKeys(ctx context.Context, f *Factory) error {
	out, err := f.printer(render.Fields{Shown: []string{"deleted", "absent"}, Hidden: []string{"dry_run", "store_now"}})
	if err != nil {
		return err
	}
	file, store, err := f.linesInto(o.from.file, writes)
	if err != nil {
		return err
	}
	progress := f.progress("keys")
	defer progress.Stop()
	keys := linesOf(file, func(line []byte) (string, error) { return o.from.parse(f, line) })
	result, err := bulk.Write(ctx, store, items(keys, opaque.Delete), bulk.Options{DryRun: o.dryRun, Applied: func(a *opaque.Applied) {
		progress.Add(int64(len(a.Written)))
	}})
	progress.Stop()
	if err != nil {
		did := fmt.Sprintf("deleted %s, found %d absent", count(int(result.Deleted), "key"), result.Absent)
		command := "delete --keys-from"
		if o.from.ndjson {
			command = "delete --ndjson --keys-from"
		}
		return stoppedAt(err, result, o.dryRun, did, o.from.file, command)
	}
	out.SetNow(result.Now)
	return out.One(rowsRecord{result, o.dryRun, true})
}
