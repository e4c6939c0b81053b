package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
)

func newBlobStatCmd(f *Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "stat REFERENCE",
		Short: "Show what a blob is: size, expiry, and the frame in it",
		Long: `Show what a blob is: its size, its expiry, and what it begins as. The frame of a
chunk or of a manifest is decoded, and its CRC-32C checked; one that is damaged
makes the exit status 7. Anything else is just bytes.`,
		Example: `  keyspacectl blob stat chunk/1
  keyspacectl blob stat manifest/1 -o json | jq -r '.chunks[].reference'`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			reference, err := f.reference(args[0])
			if err != nil {
				return err
			}
			return runBlobStat(c.Context(), f, reference)
		},
	}
}

func runBlobStat(ctx context.Context, f *Factory, reference string) error {
	out, err := f.printer(render.Fields{
		Shown:  []string{"reference", "size", "expires_at", "kind", "crc", "order", "data_length", "total_length", "chunk_count", "crc32c", "sha256"},
		Hidden: []string{"chunks"},
	})
	if err != nil {
		return err
	}
	store, err := f.blobs(reads)
	if err != nil {
		return err
	}
	stat, err := store.Stat(ctx, reference)
	if err != nil {
		return err
	}
	out.SetNow(stat.Now)
	if err := out.One(blobStatRecord(stat)); err != nil {
		return err
	}
	return stat.Damage
}
