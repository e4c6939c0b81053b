package cmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/duration"
)

type blobRenewOptions struct {
	reference string
	retention duration.Value
	dryRun    bool
}

func newBlobRenewCmd(f *Factory) *cobra.Command {
	var o blobRenewOptions
	c := &cobra.Command{
		Use:   "renew REFERENCE",
		Short: "Move the expiry of a blob",
		Long: `Move the expiry of a blob to the retention from now, sooner or later than it
was. Its bytes stay as they are. Without such a blob the exit status is 3.`,
		Example: `  keyspacectl blob renew chunk/1 --retention 24h
  keyspacectl blob renew chunk/1 --retention 24h --dry-run`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if o.reference, err = f.reference(args[0]); err != nil {
				return err
			}
			return o.run(c.Context(), f)
		},
	}
	addRetention(c, &o.retention)
	addDryRun(c, &o.dryRun)
	return c
}

func (o *blobRenewOptions) run(ctx context.Context, f *Factory) error {
	out, err := f.printer(blobWrittenFields())
	if err != nil {
		return err
	}
	store, err := f.blobs(writes)
	if err != nil {
		return err
	}
	renew := store.Renew
	if o.dryRun {
		renew = store.PreviewRenew
	}
	result, err := renew(ctx, o.reference, time.Duration(o.retention).Milliseconds())
	if err != nil {
		return err
	}
	out.SetNow(result.Now)
	return out.One(blobWrittenRecord{Result: result, reference: o.reference, dryRun: o.dryRun})
}
