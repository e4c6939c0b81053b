package cmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/duration"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/transfer"
)

type copyOptions struct {
	from, to *end
	what     selection
	export   transfer.ExportOptions
	write    writing
	into     transfer.ImportOptions
}

func newCopyCmd(f *Factory) *cobra.Command {
	var o copyOptions
	maxAge := duration.Value(opaque.DefaultSnapshotMaxAge)
	c := &cobra.Command{
		Use:   "copy",
		Short: "Copy the stores of a prefix to another prefix or server",
		Long: `Copy the stores of a prefix to another prefix, server or both, of whatever shape
these are: all three stores that it can have, or those named by --store.

A side is where its flags and its context lead, or else the global flags. Both
sides must not be the same, by whatever address.

It does what an export and an import of its archive would do, and no file is
written. Unless --on-conflict says otherwise, everything is looked through
first, and nothing is written where the destination holds something else. With
--on-conflict overwrite that is a blob of other bytes: a blob is never
overwritten. The same command can be run again after whatever ended it, and
goes on.

The rows are of one moment: a snapshot is kept open while they are read, which
holds back collection for every application. --live opens none.`,
		Example: `  keyspacectl copy --to-prefix app-copy --dry-run
  keyspacectl copy --from-context live --to-context staging --verify
  keyspacectl copy --to-context staging --match sessions/ --on-conflict overwrite
  keyspacectl copy --to-context staging --store warm --segment users --keep-tokens --on-conflict skip`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.export.MaxAge = time.Duration(maxAge)
			if err := o.check(c, f); err != nil {
				return err
			}
			return o.run(c.Context(), f)
		},
	}
	f.registerSides(c, "from", "to")
	o.what.register(c)
	o.write.register(c)
	c.Flags().BoolVar(&o.into.KeepGoing, "keep-going", false, "leave out what cannot be written, and go on")
	c.Flags().BoolVar(&o.export.Live, "live", false, "open no snapshot; read each row when it is reached")
	c.Flags().Var(&maxAge, "snapshot-max-age", "give up when the snapshot has been open for this `DURATION`")
	c.MarkFlagsMutuallyExclusive("live", "snapshot-max-age")
	return c
}

func (o *copyOptions) check(c *cobra.Command, f *Factory) (err error) {
	if o.from, o.to, err = f.ends(c, "from", "to"); err != nil {
		return err
	}
	if err := o.from.check(o.to); err != nil {
		return err
	}
	if err := o.what.apply(c, f, &o.export.Options); err != nil {
		return err
	}
	return o.write.apply(f, &o.into)
}

func (o *copyOptions) run(ctx context.Context, f *Factory) error {
	out, err := f.printer(importedFields())
	if err != nil {
		return err
	}
	from, to, err := o.from.open(ctx, reads, o.to, writes, o.what.stores)
	if err != nil {
		return err
	}
	report := o.write.follow(f, &o.into)
	report.place = "record"
	defer report.Stop()
	if report.Counter != nil {
		o.export.Expect = report.Expect
	}
	sum, err := transfer.Copy(ctx, from, to, o.export, o.into)
	report.Stop()
	if err == nil && sum.Done() == 0 {
		f.note("the prefix %q has nothing to copy", from.Prefix)
	}
	return report.end(out, sum, err)
}
