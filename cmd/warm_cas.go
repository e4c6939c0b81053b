package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

type warmCASOptions struct {
	chunkAddress
	payload valueSource
	create  bool
	expect  string
	dryRun  bool
}

func newWarmCASCmd(f *Factory) *cobra.Command {
	var o warmCASOptions
	c := &cobra.Command{
		Use:   "cas SEGMENT CHUNK [VALUE] --create | --expect TOKEN",
		Short: "Write a chunk of a segment if it is as expected",
		Long: `Write a chunk of a segment if it is as expected: with --create if there is none
yet, with --expect if it has that token. Otherwise nothing changes, the message
says what is there, and the exit status is 4.

The payload is the argument VALUE, the bytes of --file, or else the standard
input. The chunk gets a new token, which is printed.`,
		Example: `  keyspacectl warm cas users 7 --create --file payload.bin
  keyspacectl warm cas users 7 --expect "$token" < payload.bin
  keyspacectl warm cas users 7 hello --expect "$token" --columns token`,
		DisableFlagsInUseLine: true,
		Args:                  cobra.RangeArgs(2, 3),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.parse(args); err != nil {
				return err
			}
			o.payload.fromArgs(args, 2)
			if err := o.payload.check(f); err != nil {
				return err
			}
			return o.run(c.Context(), f)
		},
	}
	o.register(c)
	o.payload.register(c, "payload")
	c.Flags().BoolVar(&o.create, "create", false, "write only if there is no such chunk")
	c.Flags().StringVar(&o.expect, "expect", "", "write only if the chunk has this `TOKEN`")
	c.MarkFlagsOneRequired("create", "expect")
	c.MarkFlagsMutuallyExclusive("create", "expect")
	addDryRun(c, &o.dryRun)
	return c
}

func (o *warmCASOptions) run(ctx context.Context, f *Factory) error {
	out, err := f.printer(chunkWrittenFields())
	if err != nil {
		return err
	}
	store, err := f.warm(writes)
	if err != nil {
		return err
	}
	payload, err := o.payload.read(f, warm.MaxPayloadBytes)
	if err != nil {
		return err
	}
	ctx, cancel := f.operation(ctx)
	defer cancel()
	result, err := o.write(ctx, store, payload)
	if err != nil {
		return err
	}
	size := int64(len(payload))
	return out.One(chunkWrittenRecord{result, o.chunkAddress, &size, o.dryRun})
}

// write is the one call that the flags ask for.
func (o *warmCASOptions) write(ctx context.Context, store *warm.Store, payload []byte) (warm.Result, error) {
	switch {
	case o.create && o.dryRun:
		return store.PreviewCreate(ctx, o.segment, o.chunk, payload)
	case o.create:
		return store.Create(ctx, o.segment, o.chunk, payload)
	case o.dryRun:
		return store.PreviewUpdate(ctx, o.segment, o.chunk, payload, o.expect)
	}
	return store.Update(ctx, o.segment, o.chunk, payload, o.expect)
}
