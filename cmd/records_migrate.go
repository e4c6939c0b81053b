// What became of older layouts, as records: what all formats print.

package cmd

import (
	"slices"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/migrate"
)

func migratedFields(apply, retire bool) render.Fields {
	all := []string{
		"layout", "store", "found", "ready", "done", "expired", "tombstones", "collisions", "damaged", "gone",
		"ambiguous", "not_base64", "bytes", "written", "retired", "kept", "beside", "dry_run",
	}
	shown := []string{"layout", "found", "ready", "done", "expired", "tombstones", "collisions", "damaged", "ambiguous", "not_base64", "beside", "bytes"}
	switch {
	case apply:
		shown = []string{"layout", "found", "written", "ready", "done", "expired", "tombstones", "collisions", "damaged", "kept"}
	case retire:
		shown = []string{"layout", "found", "retired", "kept", "beside"}
	}
	return render.Fields{Shown: shown, Hidden: slices.DeleteFunc(all, func(name string) bool { return slices.Contains(shown, name) })}
}

// migratedRecord is what was found of a layout, and what became of it.
type migratedRecord struct {
	migrate.Count
	dryRun bool
}

func (m migratedRecord) Record(r *render.Record) {
	r.Text("layout", string(m.Layout))
	r.Text("store", string(m.Store))
	r.Int("found", m.Found)
	r.Int("ready", m.Ready)
	r.Int("done", m.Done)
	r.Int("expired", m.Expired)
	r.Int("tombstones", m.Tombstones)
	r.Int("collisions", m.Collisions)
	r.Int("damaged", m.Damaged)
	r.Int("gone", m.Gone)
	r.Int("ambiguous", m.Ambiguous)
	r.Int("not_base64", m.NotBase64)
	r.Size("bytes", m.Bytes)
	r.Int("written", m.Written)
	r.Int("retired", m.Retired)
	r.Int("kept", m.Kept)
	r.Int("beside", m.Beside)
	if m.dryRun {
		r.Bool("dry_run", true)
	}
}
