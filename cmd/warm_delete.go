package cmd

import (
	"context"

	"github.com/spf13/cobra"
)

type warmDeleteOptions struct {
	chunkAddress
	expect string
	dryRun bool
}

func newWarmDeleteCmd(f *Factory) *cobra.Command {
	var o warmDeleteOptions
	c := &cobra.Command{
		Use:     "delete SEGMENT CHUNK --expect TOKEN",
		Aliases: []string{"del", "rm"},
		Short:   "Delete a chunk of a segment if it has the expected token",
		Long: `Delete a chunk of a segment if it has the expected token. Otherwise, and where
there is no such chunk, nothing changes and the exit status is 4.`,
		Example: `  keyspacectl warm delete users 7 --expect "$token"
  keyspacectl warm delete users 7 --namespace eu --expect "$token" --dry-run`,
		DisableFlagsInUseLine: true,
		Args:                  cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.parse(args); err != nil {
				return err
			}
			return o.run(c.Context(), f)
		},
	}
	o.register(c)
	c.Flags().StringVar(&o.expect, "expect", "", "delete only if the chunk has this `TOKEN` (required)")
	if err := c.MarkFlagRequired("expect"); err != nil {
		panic(err) // the flag was added just now
	}
	addDryRun(c, &o.dryRun)
	return c
}

func (o *warmDeleteOptions) run(ctx context.Context, f *Factory) error {
	fields := chunkWrittenFields()
	fields.Shown = []string{"segment", "chunk", "outcome"}
	out, err := f.printer(fields)
	if err != nil {
		return err
	}
	store, err := f.warm(writes)
	if err != nil {
		return err
	}
	ctx, cancel := f.operation(ctx)
	defer cancel()
	remove := store.Delete
	if o.dryRun {
		remove = store.PreviewDelete
	}
	result, err := remove(ctx, o.segment, o.chunk, o.expect)
	if err != nil {
		return err
	}
	return out.One(chunkWrittenRecord{result, o.chunkAddress, nil, o.dryRun})
}
