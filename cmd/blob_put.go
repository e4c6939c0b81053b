package cmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/duration"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

type blobPutOptions struct {
	reference string
	payload   valueSource
	dir       string
	retention duration.Value
	dryRun    bool
}

func newBlobPutCmd(f *Factory) *cobra.Command {
	var o blobPutOptions
	c := &cobra.Command{
		Use:   "put REFERENCE | put --dir DIRECTORY",
		Short: "Store a blob",
		Long: `Store a blob: the bytes of --file, or else of the standard input.

A blob is never overwritten. Where exactly these bytes are stored already,
nothing changes, their expiry neither, and that is a success; where others
are, the exit status is 4.

--dir stores every blob of a directory as blob read --all wrote it: the names of
the files are the references, encoded. Every name is looked at before anything
is sent. It ends at the first blob that cannot be stored: the status is 10 where
others are stored by then, and the same command goes on.`,
		Example: `  keyspacectl blob put chunk/1 --file chunk.bin --retention 24h
  keyspacectl blob put chunk/1 --retention 7d < chunk.bin
  keyspacectl blob put chunk/1 --file chunk.bin --retention 24h --dry-run
  keyspacectl blob put --dir blobs --retention 24h`,
		Args: argsUnless(&o.dir, cobra.ExactArgs(1), cobra.NoArgs),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if o.dir != "" {
				return o.runDir(c.Context(), f)
			}
			if o.reference, err = f.reference(args[0]); err != nil {
				return err
			}
			if o.payload.file == "" && f.inTerminal() {
				return storeerr.New(storeerr.Invalid, "no payload is given").WithHint("give it by --file, or through a pipe")
			}
			return o.run(c.Context(), f)
		},
	}
	o.payload.register(c, "payload")
	c.Flags().StringVar(&o.dir, "dir", "", "store the blobs of this `DIRECTORY`")
	c.MarkFlagsMutuallyExclusive("dir", "file")
	addRetention(c, &o.retention)
	addDryRun(c, &o.dryRun)
	return c
}

// argsUnless checks the arguments in one way, or where a flag was given in
// another.
func argsUnless(flag *string, usual, given cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if *flag != "" {
			return given(c, args)
		}
		return usual(c, args)
	}
}

// addRetention adds the flag that writes of the blob store cannot do without.
func addRetention(c *cobra.Command, retention *duration.Value) {
	c.Flags().Var(retention, "retention", "expire after this `DURATION`, such as 24h (required)")
	if err := c.MarkFlagRequired("retention"); err != nil {
		panic(err) // the flag was added just now
	}
}

func (o *blobPutOptions) run(ctx context.Context, f *Factory) error {
	out, err := f.printer(blobWrittenFields())
	if err != nil {
		return err
	}
	progress := f.carrying()
	defer progress.Stop()
	store, err := f.blobs(writes)
	if err != nil {
		return err
	}
	payload, err := o.payload.read(f, blob.MaxPayloadBytes)
	if err != nil {
		return err
	}
	progress.Expect(int64(len(payload)))
	put := store.Put
	if o.dryRun {
		put = store.PreviewPut
	}
	result, err := put(ctx, o.reference, payload, time.Duration(o.retention).Milliseconds())
	progress.Stop()
	if err != nil {
		return err
	}
	if result.Outcome == blob.AlreadyStored {
		f.note("the blob is stored already, and keeps its expiry (blob renew moves it)")
	}
	out.SetNow(result.Now)
	size := int64(len(payload))
	return out.One(blobWrittenRecord{Result: result, reference: o.reference, size: &size, dryRun: o.dryRun})
}
