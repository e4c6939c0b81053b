package cmd

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/duration"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/transfer"
)

type diffOptions struct {
	transfer.DiffOptions
	diffSides
	limit int64
}

func newDiffCmd(f *Factory) *cobra.Command {
	o := diffOptions{diffSides: diffSides{maxAge: duration.Value(opaque.DefaultSnapshotMaxAge)}}
	tolerance := duration.Value(transfer.DefaultExpiryTolerance)
	c := &cobra.Command{
		Use:   "diff",
		Short: "Compare the stores of two prefixes, servers or archives",
		Long: `Compare the stores of two prefixes, servers or archives: what is only on the left
side, only on the right one, or on both and different in value or expiry. The
exit status is 0 when there is no difference, and 7 when there are some.

A side is where its flags and its context lead, or else the global flags; or it
is an archive. The versions of rows and the tokens of chunks differ between two
places by nature, and are compared by --versions alone.

--map and --map-segment compare what a copy with the same flag has written. The
keys that are shown are those of the right side.

The rows of each side are of one moment: a snapshot is kept open meanwhile,
which holds back collection for every application. --live opens none.`,
		Example: `  keyspacectl diff --right-prefix app-staging
  keyspacectl diff --left-context live --right-context staging --store opaque
  keyspacectl diff --right-prefix app-staging --map users/=people/
  keyspacectl diff --left-file nightly.ndjson.zst -o ndjson
  keyspacectl diff --left-context live --right-context staging --match sessions/ --limit 10`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("limit") && o.limit < 1 {
				return storeerr.New(storeerr.Invalid, "--limit is at least 1, not %d", o.limit)
			}
			o.ExpiryTolerance = time.Duration(tolerance)
			if err := o.check(c, f); err != nil {
				return err
			}
			return o.run(c.Context(), f)
		},
	}
	o.register(c, f)
	c.Flags().Var(&tolerance, "expiry-tolerance", "take expiries for equal that lie this `DURATION` apart")
	c.Flags().BoolVar(&o.Versions, "versions", false, "compare versions and tokens too")
	c.Flags().Int64Var(&o.limit, "limit", 0, "stop after this `NUMBER` of differences")
	return c
}

func (o *diffOptions) run(ctx context.Context, f *Factory) error {
	left, right, err := o.open(ctx, f)
	if err != nil {
		return err
	}
	out, err := f.printer(differenceFields(o.what.stores, o.Versions))
	if err != nil {
		return err
	}
	progress := f.progress("records compared")
	defer progress.Stop()
	var tally transfer.Tally
	o.Tally, o.Progress = &tally, func(t transfer.Tally) { progress.Set(t.Compared()) }
	damaged := damage{what: "record"}
	for d, err := range transfer.Compare(ctx, left, right, o.DiffOptions) {
		if errors.As(err, new(*transfer.SkippedError)) {
			damaged.add(f, err)
			continue
		}
		if err == nil {
			out.SetNow(left.Now())
			err = out.Row(differenceRecord(d))
		}
		if err != nil {
			return stopped(out, err)
		}
		if tally.Differences() == o.limit {
			break
		}
	}
	progress.Stop()
	o.tellDoubts(f)
	if err := out.End(); err != nil {
		return err
	}
	if tally == (transfer.Tally{}) {
		f.note("there is nothing on either side")
		return nil
	}
	if err := damaged.err(); err != nil || tally.Differences() == 0 {
		f.note("%s", tallied(tally))
		return err
	}
	return storeerr.New(storeerr.Integrity, "the sides differ: %s", tallied(tally))
}
