package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
)

type blobDeleteOptions struct {
	references []string
	dryRun     bool
}

func newBlobDeleteCmd(f *Factory) *cobra.Command {
	var o blobDeleteOptions
	c := &cobra.Command{
		Use:     "delete REFERENCE...",
		Aliases: []string{"del", "rm"},
		Short:   "Delete blobs",
		Long: `Delete blobs, one after the other. One that is not there is reported as absent,
and is no failure.`,
		Example: `  keyspacectl blob delete chunk/1
  keyspacectl blob delete chunk/1 chunk/2 chunk/3
  keyspacectl blob delete chunk/1 --dry-run`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			for _, arg := range args {
				reference, err := f.reference(arg)
				if err != nil {
					return err
				}
				o.references = append(o.references, reference)
			}
			return o.run(c.Context(), f)
		},
	}
	addDryRun(c, &o.dryRun)
	return c
}

func (o *blobDeleteOptions) run(ctx context.Context, f *Factory) error {
	out, err := f.printer(render.Fields{Shown: []string{"reference", "outcome"}, Hidden: []string{"dry_run", "store_now"}})
	if err != nil {
		return err
	}
	store, err := f.blobs(writes)
	if err != nil {
		return err
	}
	remove := store.Delete
	if o.dryRun {
		remove = store.PreviewDelete
	}
	for i, reference := range o.references {
		result, err := remove(ctx, reference)
		if err != nil {
			return stopped(out, partial(err, i > 0 && !o.dryRun, "went through %d of %d blobs; the same command goes on", i, len(o.references)))
		}
		out.SetNow(result.Now)
		record := blobDeletedRecord{Result: result, reference: reference, dryRun: o.dryRun}
		if len(o.references) == 1 {
			return out.One(record)
		}
		if err := out.Row(record); err != nil {
			return err
		}
	}
	return out.End()
}
