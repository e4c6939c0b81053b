package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func newSnapshotGCCmd(f *Factory) *cobra.Command {
	var o opaque.CollectOptions
	c := &cobra.Command{
		Use:   "gc",
		Short: "End the snapshots that ran out, and collect everything due",
		Long: `End the snapshots that ran out, and collect everything that was due when the
command began, each key once: versions that nothing can read, tombstones, and
rows expired for a minute. Keys that open snapshots hold back stay due:
snapshot list --held counts them. It works beside the applications: a script
works on one batch and looks again at each key before it acts.

--dry-run counts by the snapshots that are open when it begins.`,
		Example: `  keyspacectl snapshot gc --dry-run
  keyspacectl snapshot gc
  keyspacectl snapshot gc --batch 1000`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Batch < 1 || o.Batch > opaque.MaxCollectBatch {
				return storeerr.New(storeerr.Invalid, "--batch is 1 to %d, not %d", opaque.MaxCollectBatch, o.Batch)
			}
			return runSnapshotGC(c.Context(), f, o)
		},
	}
	c.Flags().IntVar(&o.Batch, "batch", opaque.DefaultCollectBatch, "work on this `NUMBER` of keys at a time, 1 to 2048")
	addDryRun(c, &o.DryRun)
	return c
}

func runSnapshotGC(ctx context.Context, f *Factory, o opaque.CollectOptions) error {
	out, err := f.printer(render.Fields{
		Shown:  []string{"due", "removed_rows", "removed_entries", "dropped_versions", "held_back", "ended_snapshots", "damaged_rows"},
		Hidden: []string{"dry_run"},
	})
	if err != nil {
		return err
	}
	store, err := f.opaque(writes)
	if err != nil {
		return err
	}
	progress := f.progress("keys collected")
	defer progress.Stop()
	o.Progress = func(c opaque.Collected) { progress.Set(c.Due) }
	var damaged damage
	o.Damaged = func(err error) { damaged.add(f, err) }
	collected, err := store.CollectAll(ctx, o)
	progress.Stop()
	if err != nil {
		return partial(err, collected.Due > 0 && !o.DryRun, "collected %d keys; the same command goes on", collected.Due)
	}
	if err := out.One(collectedRecord{collected, o.DryRun}); err != nil {
		return err
	}
	return damaged.err()
}

// collectedRecord counts what a collection did.
type collectedRecord struct {
	opaque.Collected
	dryRun bool
}

func (c collectedRecord) Record(r *render.Record) {
	r.Int("due", c.Due)
	r.Int("removed_rows", c.RemovedRows)
	r.Int("removed_entries", c.RemovedEntries)
	r.Int("dropped_versions", c.DroppedVersions)
	r.Int("held_back", c.HeldBack)
	r.Int("ended_snapshots", c.EndedSnapshots)
	r.Int("damaged_rows", c.DamagedRows)
	if c.dryRun {
		r.Bool("dry_run", true)
	}
}
