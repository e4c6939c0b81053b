package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

type warmListOptions struct {
	chunkAddress
	payload bool
	decode  bool
}

func newWarmListCmd(f *Factory) *cobra.Command {
	var o warmListOptions
	c := &cobra.Command{
		Use:     "list SEGMENT",
		Aliases: []string{"ls"},
		Short:   "List the chunks of a segment",
		Long: `List the chunks of a segment, ascending: number, token and size. A segment that
does not exist is an empty one.

Payloads stay on the server unless --payload or --decode asks for them.
--decode reads them as bitmap deltas, and shows how many ids each adds and
removes; JSON and YAML name the ids too. A payload that is no such delta is
told on the standard error, left out, and makes the exit status 7.`,
		Example: `  keyspacectl warm list users
  keyspacectl warm list users --namespace eu --payload -o ndjson
  keyspacectl warm list users --decode -o json | jq '.[].adds'`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.parse(args); err != nil {
				return err
			}
			return o.run(c.Context(), f)
		},
	}
	o.register(c)
	c.Flags().BoolVar(&o.payload, "payload", false, "show payloads too")
	c.Flags().BoolVar(&o.decode, "decode", false, "decode payloads as bitmap deltas")
	return c
}

func (o *warmListOptions) run(ctx context.Context, f *Factory) error {
	out, err := f.printer(chunkListFields(o.payload, o.decode))
	if err != nil {
		return err
	}
	store, err := f.warm(reads)
	if err != nil {
		return err
	}
	progress := f.progress("chunks")
	defer progress.Stop()
	damaged := damage{what: "chunk"}
	for chunk, err := range store.List(ctx, o.segment, warm.ListOptions{Payload: o.payload || o.decode}) {
		record := chunkRecord{Chunk: chunk, payload: o.payload}
		if err == nil && o.decode {
			record.delta, err = decodeChunk(chunk)
		}
		if errors.Is(err, storeerr.Integrity) && chunk.Segment == o.segment {
			damaged.add(f, err)
			continue
		}
		if err == nil {
			err = out.Row(record)
		}
		if err != nil {
			return stopped(out, err)
		}
		progress.Add(1)
	}
	progress.Stop()
	if err := out.End(); err != nil {
		return err
	}
	return damaged.err()
}
