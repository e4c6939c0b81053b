package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/transfer"
)

type importOptions struct {
	transfer.ReadOptions
	file  string
	what  selection
	write writing
}

func newImportCmd(f *Factory) *cobra.Command {
	var o importOptions
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Write an archive to the stores of a prefix",
		Long: `Write an archive to the stores of a prefix; - is the standard input.

A FILE is read once to see that it is whole and that nothing is in its way, and
only then written. What comes through a pipe is checked on the way: where it
turns out bad, what stood before is written, and counted.

Rows get new versions. Equal ones are left alone, so the same command can be
run again after whatever ended it, and goes on. What differs is a conflict:
--on-conflict says what becomes of it. A blob is never overwritten: one of other
bytes stays a conflict unless --keep-going leaves it out, and one of the same
bytes gets the expiry of the archive. Expiries are kept as moments, and what is
over by the server's clock is not written. Older versions are passed over.`,
		Example: `  keyspacectl import backup.ndjson.zst --dry-run
  keyspacectl import backup.ndjson.zst --on-conflict skip
  keyspacectl import backup.ndjson.zst --prefix staging --map users/=people/ --verify
  keyspacectl export - | keyspacectl import - --prefix copy`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.file = args[0]
			if err := o.what.apply(c, f, &o.What.Part); err != nil {
				return err
			}
			o.What.Stores = o.what.stores
			if err := o.write.apply(f, &o.ImportOptions); err != nil {
				return err
			}
			return o.run(c.Context(), f)
		},
	}
	o.what.register(c)
	o.write.register(c)
	c.Flags().BoolVar(&o.KeepGoing, "keep-going", false, "leave out bad lines and what cannot be written, and go on")
	c.Flags().BoolVar(&o.Partial, "partial", false, "take what can be read of an archive that is cut off or altered")
	return c
}

func (o *importOptions) run(ctx context.Context, f *Factory) error {
	out, err := f.printer(importedFields())
	if err != nil {
		return err
	}
	in, err := f.openArchive(o.file)
	if err != nil {
		return err
	}
	// What has chunks alone needs no prefix.
	stores := o.what.stores
	if onlyWarm := []string{transfer.Warm}; len(stores) == 0 && slices.Equal(in.Header().Stores, onlyWarm) {
		stores = onlyWarm
	}
	side, err := f.side(writes, stores)
	if err != nil {
		return err
	}
	report := o.write.follow(f, &o.ImportOptions)
	defer report.Stop()
	if report.Counter != nil {
		o.Expect = report.Expect
	}
	sum, err := transfer.ReadArchive(ctx, side, in.Reader, in.again, o.ReadOptions)
	report.Stop()
	if errors.Is(err, archive.ErrDamaged) && (o.Partial || sum.Written() > 0 && !o.DryRun) {
		err = o.ofDamaged(sum, err)
	}
	return report.end(out, sum, err)
}

// ofDamaged says what came of an archive that is not whole.
func (o *importOptions) ofDamaged(sum transfer.Summary, err error) error {
	is := "is"
	if o.DryRun {
		is = "would be"
	}
	switch {
	case sum.Line == 0:
		return fmt.Errorf("nothing %s imported: %w", is, err)
	case errors.Is(err, archive.ErrAltered):
		return storeerr.New(storeerr.Partial, "all that can be read %s imported (%s), and nothing tells which line was altered: %w", is, counted(sum), err)
	}
	return storeerr.New(storeerr.Partial, "what stands before the damage %s imported, up to line %d (%s): %w", is, sum.Line, counted(sum), err)
}
