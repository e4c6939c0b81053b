package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

type deleteOptions struct {
	keys      []string
	from      keysFrom
	ifVersion string
	under     string
	all       bool
	dryRun    bool
	yes       bool
}

func newDeleteCmd(f *Factory) *cobra.Command {
	var o deleteOptions
	c := &cobra.Command{
		Use:     "delete KEY... | delete --keys-from FILE | delete --under PREFIX",
		Aliases: []string{"del", "rm"},
		Short:   "Delete keys of the versioned store",
		Long: `Delete keys of the versioned store.

The keys named are deleted in one atomic batch; one without a live row is
reported and left alone. With --keys-from the keys are those of a file, one a
line in the key format, or with --ndjson a JSON object a line, as scan prints
them; they are deleted in batches, each atomic, and counted. With --under, every key that begins with PREFIX is
deleted, in batches; that asks on a terminal, and needs --yes without one.`,
		Example: `  keyspacectl delete mykey
  keyspacectl delete a b c
  keyspacectl delete --keys-from keys.txt
  keyspacectl delete mykey --if-version 7
  keyspacectl delete --under sessions/ --dry-run
  keyspacectl delete --under sessions/ --yes`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			under := c.Flags().Changed("under")
			if err := o.check(c, f, args, under); err != nil {
				return err
			}
			if o.from.file != "" {
				return o.runKeys(c.Context(), f)
			}
			if under {
				return o.runUnder(c.Context(), f)
			}
			return o.run(c.Context(), f)
		},
	}
	o.from.register(c)
	c.Flags().StringVar(&o.ifVersion, "if-version", "", "delete the one key only if its row has this `VERSION`")
	c.Flags().StringVar(&o.under, "under", "", "delete every key that begins with this `PREFIX`, given as a key is")
	c.Flags().BoolVar(&o.all, "all", false, "allow --under an empty prefix: every key")
	addDryRun(c, &o.dryRun)
	addYes(c, &o.yes)
	c.MarkFlagsMutuallyExclusive("keys-from", "under", "if-version")
	return c
}

func (o *deleteOptions) check(c *cobra.Command, f *Factory, args []string, under bool) (err error) {
	conditional := c.Flags().Changed("if-version")
	if err := o.from.check(c, args); err != nil || o.from.file != "" {
		return err
	}
	switch {
	case under && len(args) > 0:
		return storeerr.New(storeerr.Invalid, "name keys or --under, not both")
	case under && conditional:
		return storeerr.New(storeerr.Invalid, "--if-version takes one key, not --under")
	case !under && len(args) == 0:
		return storeerr.New(storeerr.Invalid, "no key is named").WithHint("see `keyspacectl delete --help`")
	case conditional && len(args) != 1:
		return storeerr.New(storeerr.Invalid, "--if-version takes exactly one key, not %d", len(args))
	case conditional && o.ifVersion == "":
		return storeerr.New(storeerr.Invalid, "--if-version is empty")
	case under && o.under == "" && !o.all:
		return storeerr.New(storeerr.Invalid, "--under an empty prefix deletes every key: that needs --all as well")
	}
	if o.keys, err = f.keys(args); err != nil {
		return err
	}
	o.under, err = f.key(o.under)
	return err
}

func (o *deleteOptions) run(ctx context.Context, f *Factory) error {
	var b opaque.Batch
	for _, key := range o.keys {
		b.Mutations = append(b.Mutations, opaque.Delete(key))
	}
	if o.ifVersion != "" {
		b.Conditions = []opaque.Condition{opaque.VersionIs(o.keys[0], o.ifVersion)}
	}
	out, err := f.printer(writtenFields())
	if err != nil {
		return err
	}
	store, err := f.opaque(writes)
	if err != nil {
		return err
	}
	applied, err := f.write(ctx, store, b, o.dryRun)
	if err != nil {
		return err
	}
	out.SetNow(applied.Now)
	records := writtenRecords(applied, o.dryRun)
	if len(records) == 1 {
		return out.One(records[0])
	}
	return printAll(out, records)
}

func (o *deleteOptions) runUnder(ctx context.Context, f *Factory) error {
	out, err := f.printer(render.Fields{Shown: []string{"under", "deleted"}, Hidden: []string{"dry_run", "store_now"}})
	if err != nil {
		return err
	}
	store, err := f.opaque(writes)
	if err != nil {
		return err
	}
	if !o.dryRun {
		if err := f.confirm(o.yes, "delete every key that begins with %q", o.under); err != nil {
			return err
		}
	}
	progress := f.progress("keys deleted")
	defer progress.Stop()
	d, err := store.DeleteUnder(ctx, o.under, opaque.DeleteUnderOptions{
		DryRun:   o.dryRun,
		Progress: func(d opaque.DeletedUnder) { progress.Set(d.Deleted) },
	})
	progress.Stop()
	var skipped damage
	for _, err := range d.Skipped {
		skipped.add(f, err)
	}
	if err != nil {
		return partial(err, d.Deleted > 0, "deleted %d keys, up to %q; the same command goes on", d.Deleted, d.Last)
	}
	out.SetNow(d.Now)
	if err := out.One(deletedUnderRecord{d, o.under, o.dryRun}); err != nil {
		return err
	}
	return skipped.err()
}

type deletedUnderRecord struct {
	opaque.DeletedUnder
	under  string
	dryRun bool
}

func (d deletedUnderRecord) Record(r *render.Record) {
	r.Bytes("under", d.under)
	r.Int("deleted", d.Deleted)
	if d.dryRun {
		r.Bool("dry_run", true)
	}
	r.Time("store_now", d.Now)
}
