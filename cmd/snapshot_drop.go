package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

type snapshotDropOptions struct {
	id     string
	dryRun bool
}

func newSnapshotDropCmd(f *Factory) *cobra.Command {
	var o snapshotDropOptions
	c := &cobra.Command{
		Use:   "drop ID",
		Short: "End a snapshot now",
		Long: `End a snapshot of the versioned store now, whoever opened it: all of its records
at once. The scan that reads it ends as expired.`,
		Example: `  keyspacectl snapshot drop 11111111-2222-4333-8444-555555555555`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.id = args[0]
			return o.run(c.Context(), f)
		},
	}
	addDryRun(c, &o.dryRun)
	return c
}

func (o *snapshotDropOptions) run(ctx context.Context, f *Factory) error {
	if o.id == "" {
		return storeerr.New(storeerr.Invalid, "the snapshot's id is empty")
	}
	out, err := f.printer(render.Fields{Shown: []string{"id", "outcome"}, Hidden: []string{"dry_run"}})
	if err != nil {
		return err
	}
	store, err := f.opaque(writes)
	if err != nil {
		return err
	}
	ctx, cancel := f.operation(ctx)
	defer cancel()
	drop := store.DropSnapshot
	if o.dryRun {
		drop = store.HasSnapshot
	}
	existed, err := drop(ctx, o.id)
	if err != nil {
		return err
	}
	if !existed {
		return storeerr.New(storeerr.NotFound, "there is no snapshot %q", o.id)
	}
	return out.One(o)
}

// Record says what became of the snapshot.
func (o *snapshotDropOptions) Record(r *render.Record) {
	r.Text("id", o.id)
	r.Text("outcome", "dropped")
	if o.dryRun {
		r.Bool("dry_run", true)
	}
}
