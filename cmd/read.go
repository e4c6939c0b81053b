package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

type readOptions struct {
	keys   []string
	from   keysFrom
	decode bool
	force  bool
}

func newReadCmd(f *Factory) *cobra.Command {
	var o readOptions
	c := &cobra.Command{
		Use:     "read KEY... | read --keys-from FILE",
		Aliases: []string{"get"},
		Short:   "Read current rows of the versioned store",
		Long: `Read current rows of the versioned store.

One key gives, off a terminal, exactly the bytes of its value. Several keys,
all read at one moment, come back in the order asked, missing ones marked. A
key without a live row makes the exit status 3.

--keys-from takes the keys from a file, one a line in the key format, or with
--ndjson a JSON object a line, as scan prints them. They are read some at a time,
each time at one moment; the rest is as with several keys.

--decode says what key and value look like and shows the value decoded, as
inspect does: JSON laid out, its moments in words. Labels only: in JSON the
value itself is there too.`,
		Example: `  keyspacectl read mykey
  keyspacectl read mykey > value.bin
  keyspacectl read a b c -o json
  keyspacectl read --decode --key-format escaped 'owner-lease\0orders'
  keyspacectl read --keys-from keys.txt -o ndjson
  keyspacectl read --key-format hex 6370000115c5`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			err := o.from.check(c, args)
			switch {
			case err != nil:
				return err
			case o.from.file != "":
				return o.runKeys(c.Context(), f)
			case len(args) == 0:
				return storeerr.New(storeerr.Invalid, "no key is named").WithHint("see `keyspacectl read --help`")
			}
			if o.keys, err = f.keys(args); err != nil {
				return err
			}
			return o.run(c.Context(), f)
		},
	}
	o.from.register(c)
	addDecode(c, &o.decode)
	addForce(c, &o.force)
	return c
}

func (o *readOptions) run(ctx context.Context, f *Factory) error {
	fields := rowFields()
	single := len(o.keys) == 1
	if o.decode {
		fields = decodedFields()
	} else if !single {
		fields.Raw = ""
	}
	out, err := f.printer(fields)
	if err != nil {
		return err
	}
	store, err := f.opaque(reads)
	if err != nil {
		return err
	}
	ctx, cancel := f.operation(ctx)
	defer cancel()
	now, readings, err := store.Read(ctx, o.keys...)
	if err != nil {
		return err
	}
	out.SetNow(now)
	if single {
		return o.one(f, out, readings[0])
	}
	return o.list(f, out, readings)
}

func (o *readOptions) one(f *Factory, out *render.Printer, r opaque.Reading) error {
	switch {
	case r.Err != nil:
		return r.Err
	case !r.Found:
		return storeerr.New(storeerr.NotFound, "key %q has no live row", r.Key)
	}
	if !o.decode {
		if err := f.checkRaw(r.Row.Value, o.force); err != nil {
			return err
		}
	}
	return out.One(rowRecorder(r.Row, o.decode))
}

// list prints the readings in order, and fails for what is damaged before
// what is missing.
func (o *readOptions) list(f *Factory, out *render.Printer, readings []opaque.Reading) error {
	var all tally
	if err := o.print(f, out, readings, &all); err != nil {
		return err
	}
	if err := out.End(); err != nil {
		return err
	}
	return all.err()
}

// print prints readings as rows, and counts them.
func (o *readOptions) print(f *Factory, out *render.Printer, readings []opaque.Reading, all *tally) error {
	for _, r := range readings {
		var err error
		switch {
		case r.Err != nil:
			all.add(f, r.Err)
			err = out.Row(damagedRecord{r.Key})
		case r.Found:
			err = out.Row(rowRecorder(r.Row, o.decode))
		default:
			all.missing++
			err = out.Row(missingRecord{r.Key})
		}
		if err != nil {
			return err
		}
		all.keys++
	}
	return out.Flush()
}
