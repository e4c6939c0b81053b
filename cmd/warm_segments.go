package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func newWarmSegmentsCmd(f *Factory) *cobra.Command {
	var namespace string
	c := &cobra.Command{
		Use:   "segments",
		Short: "List segments, and how many chunks they have",
		Long: `List the segments of a prefix, sorted by namespace and name, and how many
chunks each has by its index.

The whole keyspace of the server is looked through, so this takes its time
where that is large.`,
		Example: `  keyspacectl warm segments
  keyspacectl warm segments --namespace eu
  keyspacectl warm segments --namespace '' -o json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			within := &namespace
			if !c.Flags().Changed("namespace") {
				within = nil
			}
			return runWarmSegments(c.Context(), f, within)
		},
	}
	c.Flags().StringVar(&namespace, "namespace", "", "only of the namespace of this `NAME`; '' is none")
	return c
}

func runWarmSegments(ctx context.Context, f *Factory, namespace *string) error {
	out, err := f.printer(render.Fields{Shown: []string{"namespace", "segment", "chunks"}})
	if err != nil {
		return err
	}
	store, err := f.warm(reads)
	if err != nil {
		return err
	}
	damaged := damage{what: "segment"}
	for info, err := range store.Segments(ctx, namespace) {
		if errors.Is(err, storeerr.Integrity) {
			damaged.add(f, err)
			continue
		}
		if err == nil {
			err = out.Row(segmentRecord(info))
		}
		if err != nil {
			return stopped(out, err)
		}
	}
	if err := out.End(); err != nil {
		return err
	}
	return damaged.err()
}
