package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/inspect"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

type inspectOptions struct {
	inspect.Options
	keys    []string
	logical bool
}

func newInspectCmd(f *Factory) *cobra.Command {
	var o inspectOptions
	c := &cobra.Command{
		Use:   "inspect REDIS-KEY... | inspect --logical KEY...",
		Short: "Show what a raw Redis key is, and what is in it",
		Long: `Show what raw Redis keys are: which store each belongs to, its role and layout,
its type, size and expiry, and its content, decoded: every version of a row and
why it is live or not, the frame of a blob, the ids of a chunk, the entries of
an index. Of what is long the first --limit entries are shown. Rows and blobs of
older layouts are recognised; a key of no store is shown with its first bytes.

With --logical the keys are those of the application, in the versioned store of
--prefix: row, index, map and cleanup queue, and whether they agree.

Nothing is written. Damage is shown with the rest, and makes the exit status 7;
a key that does not exist makes it 3.`,
		Example: `  keyspacectl inspect 'app:{zlink-location-v3}:opaque:index' --limit 5
  keyspacectl inspect '{app|_default|users}c:1' -o json | jq .adds
  keyspacectl inspect --logical zlink:v11:owner-counter
  keyspacectl inspect --logical --key-format escaped 'mesh-node\0eu\0a0f3c951d2e84b67'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if o.Limit < 1 {
				return storeerr.New(storeerr.Invalid, "--limit is at least 1, not %d", o.Limit)
			}
			if o.keys, err = f.keys(args); err != nil {
				return err
			}
			return o.run(c.Context(), f)
		},
	}
	c.Flags().IntVar(&o.Limit, "limit", inspect.DefaultLimit, "show this `NUMBER` of versions, entries or ids at most")
	c.Flags().BoolVar(&o.logical, "logical", false, "the keys are those of the application, in the store of --prefix")
	return c
}

// inspected is what was found of a key, to be printed and judged.
type inspected interface {
	render.Recorder
	name() string
	found() bool
	now() int64
	damage() []error
}

func (o *inspectOptions) run(ctx context.Context, f *Factory) error {
	format, err := f.format(false)
	if err != nil {
		return err
	}
	out, err := f.printer(inspectFields(format, o.logical))
	if err != nil {
		return err
	}
	look, err := o.look(f)
	if err != nil {
		return err
	}
	var missing, damaged []inspected
	for i, key := range o.keys {
		found, err := o.one(ctx, f, look, key)
		if err != nil {
			return stopped(out, err)
		}
		switch {
		case !found.found():
			missing = append(missing, found)
		case len(found.damage()) > 0:
			damaged = append(damaged, found)
		}
		if err := o.print(f, out, format, i, found); err != nil {
			return err
		}
	}
	if len(o.keys) > 1 && format != render.Table {
		if err := out.End(); err != nil {
			return err
		}
	}
	return o.verdict(missing, damaged)
}

// look returns what looks at one key.
func (o *inspectOptions) look(f *Factory) (func(context.Context, string) (inspected, error), error) {
	prefix := ""
	if o.logical {
		var err error
		if prefix, err = f.prefix(); err != nil {
			return nil, err
		}
	}
	client, err := f.connect(reads)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, key string) (inspected, error) {
		if o.logical {
			h, err := inspect.Logical(ctx, client, prefix, key, o.Options)
			return holdingRecord{h}, err
		}
		r, err := inspect.Key(ctx, client, key, o.Options)
		return reportRecord{r, o.Limit}, err
	}, nil
}

// one looks at a key, within the time that an operation may take.
func (o *inspectOptions) one(ctx context.Context, f *Factory, look func(context.Context, string) (inspected, error), key string) (inspected, error) {
	ctx, cancel := f.operation(ctx)
	defer cancel()
	return look(ctx, key)
}

// print prints the next key: on a terminal each as a report of its own.
func (o *inspectOptions) print(f *Factory, out *render.Printer, format render.Format, number int, found inspected) error {
	out.SetNow(found.now())
	switch {
	case len(o.keys) == 1 && !found.found():
		return nil
	case len(o.keys) == 1:
		return out.One(found)
	case format != render.Table:
		return out.Row(found)
	}
	if number > 0 {
		if _, err := fmt.Fprintln(f.Out); err != nil {
			return fmt.Errorf("writing output: %w", err)
		}
	}
	return out.One(found)
}

// verdict is what the command fails with: damage before what is missing.
func (o *inspectOptions) verdict(missing, damaged []inspected) error {
	switch {
	case len(damaged) == 1:
		return storeerr.New(storeerr.Integrity, "the key %q is damaged: %w", damaged[0].name(), damaged[0].damage()[0])
	case len(damaged) > 1:
		return storeerr.New(storeerr.Integrity, "%d of %d keys are damaged", len(damaged), len(o.keys))
	case len(missing) > 0 && len(o.keys) == 1 && o.logical:
		return storeerr.New(storeerr.NotFound, "the store holds nothing on key %q", o.keys[0])
	case len(missing) > 0 && len(o.keys) == 1:
		return storeerr.New(storeerr.NotFound, "there is no key %q", o.keys[0])
	case len(missing) > 0:
		return silent{storeerr.New(storeerr.NotFound, "%d of %d keys do not exist", len(missing), len(o.keys))}
	}
	return nil
}
