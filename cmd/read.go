package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

type readOptions struct {
	keys   []string
	decode bool
	force  bool
}

func newReadCmd(f *Factory) *cobra.Command {
	var o readOptions
	c := &cobra.Command{
		Use:     "read KEY...",
		Aliases: []string{"get"},
		Short:   "Read current rows of the versioned store",
		Long: `Read current rows of the versioned store.

One key gives, off a terminal, exactly the bytes of its value. Several keys,
all read at one moment, come back in the order asked, missing ones marked. A
key without a live row makes the exit status 3.

--decode says what key and value look like and shows the value decoded, as
inspect does: JSON laid out, its moments in words. Labels only: in JSON the
value itself is there too.`,
		Example: `  keyspacectl read mykey
  keyspacectl read mykey > value.bin
  keyspacectl read a b c -o json
  keyspacectl read --decode --key-format escaped 'owner-lease\0orders'
  keyspacectl read --key-format hex 6370000115c5`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if o.keys, err = f.keys(args); err != nil {
				return err
			}
			return o.run(c.Context(), f)
		},
	}
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
	var damaged damage
	missing := 0
	for _, r := range readings {
		var err error
		switch {
		case r.Err != nil:
			damaged.add(f, r.Err)
			err = out.Row(damagedRecord{r.Key})
		case r.Found:
			err = out.Row(rowRecorder(r.Row, o.decode))
		default:
			missing++
			err = out.Row(missingRecord{r.Key})
		}
		if err != nil {
			return err
		}
	}
	if err := out.End(); err != nil {
		return err
	}
	if err := damaged.err(); err != nil {
		return err
	}
	if missing > 0 {
		return silent{storeerr.New(storeerr.NotFound, "%d of %d keys have no live row", missing, len(readings))}
	}
	return nil
}

// damage counts rows, or what else it says, that were skipped, each told on the
// standard error: because they are damaged, or because they refuse a write.
type damage struct {
	what    string // one of them; empty means row
	damaged int
	refused int
}

func (d *damage) add(f *Factory, err error) {
	if storeerr.KindOf(err) == storeerr.Backlog {
		d.refused++
	} else {
		d.damaged++
	}
	f.warn("skipped: %v", err)
}

// skip tells whether err concerns one row alone, and counts it.
func (d *damage) skip(f *Factory, err error) bool {
	if !errors.As(err, new(*opaque.DamagedRow)) {
		return false
	}
	d.add(f, err)
	return true
}

// err is what the command fails with in the end, nil where nothing was skipped.
func (d *damage) err() error {
	switch {
	case d.damaged > 0:
		return storeerr.New(storeerr.Integrity, "skipped %s", count(d.damaged, "damaged "+cmp.Or(d.what, "row")))
	case d.refused > 0:
		return storeerr.New(storeerr.Backlog, "skipped %s that open snapshots hold back", count(d.refused, cmp.Or(d.what, "row"))).
			WithHint("see `keyspacectl snapshot list`; end a snapshot, or wait until it ends")
	}
	return nil
}

// count is a number of things in words: "1 row", "2 rows".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
