package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

type txnOptions struct {
	file   string
	dryRun bool
}

func newTxnCmd(f *Factory) *cobra.Command {
	var o txnOptions
	c := &cobra.Command{
		Use:   "txn [FILE]",
		Short: "Apply one atomic batch, written as JSON",
		Long: `Apply one atomic batch to the versioned store: all of it while every condition
holds, else nothing, and the exit status is 4.

The batch is a JSON object, from FILE or the standard input (-):

  {"conditions": [{"kind": "missing", "key": "a"},
                  {"kind": "version", "key": "b", "version": "7"},
                  {"kind": "value",   "key": "c", "value": "x"}],
   "mutations":  [{"kind": "put", "key": "a", "value": "…", "retention": "24h"},
                  {"kind": "put", "key": "d", "value_base64": "…", "expires_at": "2027-01-01T00:00:00Z"},
                  {"kind": "delete", "key": "b"}]}

key_base64 and value_base64 hold bytes that are no UTF-8.`,
		Example: `  keyspacectl txn batch.json
  keyspacectl txn --dry-run < batch.json
  echo '{"mutations":[{"kind":"delete","key":"a"}]}' | keyspacectl txn`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.file = "-"
			if len(args) > 0 {
				o.file = args[0]
			} else if f.inTerminal() {
				return storeerr.New(storeerr.Invalid, "no batch is given").WithHint("name a file, or use a pipe")
			}
			return o.run(c.Context(), f)
		},
	}
	addDryRun(c, &o.dryRun)
	return c
}

// maxTxnBytes bounds the JSON of a batch: its strings may be escaped to six
// times their size.
const maxTxnBytes = 8 * opaque.MaxBatchBytes

func (o *txnOptions) run(ctx context.Context, f *Factory) error {
	out, err := f.printer(writtenFields())
	if err != nil {
		return err
	}
	source := valueSource{file: o.file}
	text, err := source.read(f, maxTxnBytes)
	if err != nil {
		return err
	}
	batch, err := parseTxn(text)
	if err != nil {
		return err
	}
	store, err := f.opaque(writes)
	if err != nil {
		return err
	}
	applied, err := f.write(ctx, store, batch, o.dryRun)
	if err != nil {
		return err
	}
	out.SetNow(applied.Now)
	return printAll(out, writtenRecords(applied, o.dryRun))
}
