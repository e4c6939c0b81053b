package cmd

import (
	"context"

	"github.com/spf13/cobra"
)

type warmReadOptions struct {
	chunkAddress
	decode bool
	force  bool
}

func newWarmReadCmd(f *Factory) *cobra.Command {
	var o warmReadOptions
	c := &cobra.Command{
		Use:     "read SEGMENT CHUNK",
		Aliases: []string{"get"},
		Short:   "Read a chunk of a segment",
		Long: `Read a chunk of a segment: off a terminal exactly the bytes of its payload, on
one a table with a preview. JSON and YAML give the token that a write expects.

--decode reads the payload as a bitmap delta, and shows the ids that it adds
and removes; one that is none makes the exit status 7.`,
		Example: `  keyspacectl warm read users 7 > payload.bin
  keyspacectl warm read users 7 -o json | jq -r .token
  keyspacectl warm read users 7 --namespace eu --decode -o json`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.parse(args); err != nil {
				return err
			}
			return o.run(c.Context(), f)
		},
	}
	o.register(c)
	c.Flags().BoolVar(&o.decode, "decode", false, "decode the payload as a bitmap delta")
	addForce(c, &o.force)
	return c
}

func (o *warmReadOptions) run(ctx context.Context, f *Factory) error {
	out, err := f.printer(chunkFields(o.decode))
	if err != nil {
		return err
	}
	store, err := f.warm(reads)
	if err != nil {
		return err
	}
	ctx, cancel := f.operation(ctx)
	defer cancel()
	chunk, err := store.Get(ctx, o.segment, o.chunk)
	if err != nil {
		return err
	}
	record := chunkRecord{Chunk: chunk, payload: true}
	if o.decode {
		if record.delta, err = decodeChunk(chunk); err != nil {
			return err
		}
	} else if err := f.checkRaw(string(chunk.Payload), o.force); err != nil {
		return err
	}
	return out.One(record)
}
