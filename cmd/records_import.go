// What import and copy did, as a record.

package cmd

import (
	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/transfer"
)

func importedFields() render.Fields {
	return render.Fields{
		Shown:  []string{"created", "replaced", "unchanged", "skipped", "expired", "left_out"},
		Hidden: []string{"deleted", "conflicts", "history", "differ", "dry_run", "store_now"},
	}
}

// importedRecord counts what an import did.
type importedRecord struct {
	transfer.Summary
	dryRun bool
}

func (i importedRecord) Record(r *render.Record) {
	r.Int("created", i.Created)
	r.Int("replaced", i.Replaced)
	r.Int("unchanged", i.Unchanged)
	r.Int("skipped", i.Skipped)
	r.Int("expired", i.Expired)
	r.Int("left_out", i.LeftOut)
	r.Int("deleted", i.Deleted)
	r.Int("conflicts", i.Conflicts)
	r.Int("history", i.History)
	r.Int("differ", i.Differ)
	if i.dryRun {
		r.Bool("dry_run", true)
	}
	r.Time("store_now", i.Now)
}
