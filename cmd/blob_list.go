package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

type blobListOptions struct {
	prefix string
	limit  int64
}

func newBlobListCmd(f *Factory) *cobra.Command {
	var o blobListOptions
	c := &cobra.Command{
		Use:     "list [PREFIX]",
		Aliases: []string{"ls"},
		Short:   "List the blobs whose references begin with a prefix",
		Long: `List the blobs whose references begin with a prefix, in no order and each once.

The whole keyspace of the server is looked through, so this takes its time
where that is large. Blobs that come or go meanwhile may be listed or not.`,
		Example: `  keyspacectl blob list
  keyspacectl blob list chunk/ --limit 10
  keyspacectl blob list -o ndjson | jq -r .reference`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if c.Flags().Changed("limit") && o.limit < 1 {
				return storeerr.New(storeerr.Invalid, "--limit is at least 1, not %d", o.limit)
			}
			if len(args) > 0 {
				if o.prefix, err = f.key(args[0]); err != nil {
					return err
				}
			}
			return o.run(c.Context(), f)
		},
	}
	c.Flags().Int64Var(&o.limit, "limit", 0, "stop after this `NUMBER` of blobs")
	return c
}

func (o *blobListOptions) run(ctx context.Context, f *Factory) error {
	out, err := f.printer(blobInfoFields())
	if err != nil {
		return err
	}
	store, err := f.blobs(reads)
	if err != nil {
		return err
	}
	progress := f.progress("blobs")
	defer progress.Stop()
	damaged := damage{what: "blob"}
	var blobs int64
	for info, err := range store.List(ctx, o.prefix) {
		if errors.Is(err, storeerr.Integrity) {
			damaged.add(f, err)
			continue
		}
		if err == nil {
			out.SetNow(info.Now)
			err = out.Row(blobInfoRecord(info))
		}
		if err != nil {
			return stopped(out, err)
		}
		blobs++
		progress.Add(1)
		if blobs == o.limit {
			break
		}
	}
	progress.Stop()
	if err := out.End(); err != nil {
		return err
	}
	return damaged.err()
}
