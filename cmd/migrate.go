package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/migrate"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

type migrateOptions struct {
	migrate.Options
	layouts            []string
	values, onConflict string
	apply, retire, yes bool
}

func newMigrateCmd(f *Factory) *cobra.Command {
	var o migrateOptions
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Bring rows and blobs of older layouts into the current one",
		Long: `Bring the rows and blobs of older layouts under a prefix into the current one.

Without --apply it plans: what there is of each layout, what is migrated
already, and what stands in the way. --apply writes, and leaves the old keys
alone. --retire deletes each old key that has its equal in the current layout.
Each may be run again, and goes on where it stopped.

The rows of v3 without a format tag share their keys with the current layout:
they go to another prefix, or by --in-place are rewritten where they are, and
their old members kept in quarantine until --retire. Nothing marks a store that
keeps values as base64 text: --values says what they are.

What a layout keeps beside its records, such as an index, a counter and what
scans left, is retired behind the last record.

Only the current version of a row is migrated, with its expiry; it gets a new
version, but for --in-place. Stop the applications on the old keys before.`,
		Example: `  keyspacectl migrate
  keyspacectl migrate --layout opaque-v1 --to-prefix new --apply
  keyspacectl migrate --layout v3-untagged --in-place --values raw --apply --yes
  keyspacectl migrate --retire --dry-run`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(c, f); err != nil {
				return err
			}
			return o.run(c.Context(), f)
		},
	}
	c.Flags().StringSliceVar(&o.layouts, "layout", nil, "an older `LAYOUT` to migrate (repeatable; all by default)")
	c.Flags().StringVar(&o.To, "to-prefix", "", "write under this `PREFIX`, not that of the old keys")
	c.Flags().BoolVar(&o.InPlace, "in-place", false, "rewrite the rows of v3-untagged under their own keys")
	c.Flags().StringVar(&o.values, "values", "", "what the values of v3-untagged are: raw or base64")
	c.Flags().StringVar(&o.onConflict, "on-conflict", "fail", "where the current layout has another row or blob: fail or skip")
	c.Flags().BoolVar(&o.apply, "apply", false, "write what is ready")
	c.Flags().BoolVar(&o.retire, "retire", false, "delete the old keys that have their equal in the current layout")
	addDryRun(c, &o.DryRun)
	addYes(c, &o.yes)
	completeWords(c, "layout", migrate.Layouts())
	completeWords(c, "values", []migrate.Values{migrate.Raw, migrate.Base64})
	completeWords(c, "on-conflict", []string{"fail", "skip"})
	return c
}

// check reads the flags, before anything is opened.
func (o *migrateOptions) check(c *cobra.Command, f *Factory) (err error) {
	switch {
	case o.apply && o.retire:
		return storeerr.New(storeerr.Invalid, "--apply and --retire are two steps").WithHint("look at what was written before the old keys go")
	case o.onConflict != "fail" && o.onConflict != "skip":
		return storeerr.New(storeerr.Invalid, "--on-conflict is fail or skip, not %q", o.onConflict)
	}
	if o.From, err = f.prefix(); err != nil {
		return err
	}
	if !c.Flags().Changed("to-prefix") {
		o.To = o.From
	}
	for _, name := range o.layouts {
		o.Layouts = append(o.Layouts, keyspace.Layout(name))
	}
	o.Values, o.SkipCollisions = migrate.Values(o.values), o.onConflict == "skip"
	return o.Check()
}

func (o *migrateOptions) run(ctx context.Context, f *Factory) error {
	out, err := f.printer(migratedFields(o.apply, o.retire))
	if err != nil {
		return err
	}
	does, a := migrate.Plan, reads
	switch {
	case o.retire:
		does = migrate.Retire
	case o.apply:
		does = migrate.Apply
	}
	if !o.DryRun && (o.apply || o.retire) {
		a = writes
	}
	client, err := f.connect(a)
	if err != nil {
		return err
	}
	if err := o.confirm(f); err != nil {
		return err
	}
	progress := f.progress("keys")
	defer progress.Stop()
	o.Progress = progress.Set
	o.Problem = func(err error) { f.warn("%v", err) }
	counts, err := does(ctx, client, o.Options)
	progress.Stop()
	var left tallyLeft
	records := make([]migratedRecord, len(counts))
	for i, c := range counts {
		left.add(c)
		records[i] = migratedRecord{c, o.DryRun}
	}
	if err != nil {
		return partial(err, left.changed > 0, "done: %s; the same command goes on", count(int(left.changed), "record"))
	}
	if len(counts) == 0 {
		f.note("nothing of an older layout is under the prefix %q", o.From)
	}
	if err := printAll(out, records); err != nil {
		return err
	}
	return left.err(o)
}

// confirm asks before old keys go, and before applications of the old layout
// can read them no longer.
func (o *migrateOptions) confirm(f *Factory) error {
	switch {
	case o.DryRun:
		return nil
	case o.retire:
		return f.confirm(o.yes, "delete the keys of older layouts under the prefix %q", o.From)
	case o.apply && o.InPlace:
		return f.confirm(o.yes, "rewrite the untagged rows under the prefix %q, which older applications will read no longer", o.From)
	}
	return nil
}

// tallyLeft adds up what the exit status depends on.
type tallyLeft struct{ changed, damaged, collisions, kept, beside int64 }

func (l *tallyLeft) add(c migrate.Count) {
	l.changed += c.Written + c.Retired
	l.damaged += c.Damaged
	l.collisions += c.Collisions
	if l.kept += c.Kept; c.Kept == 0 {
		l.beside += c.Beside
	}
}

func (l *tallyLeft) err(o *migrateOptions) error {
	switch {
	case l.damaged > 0:
		return storeerr.New(storeerr.Integrity, "skipped %s", count(int(l.damaged), "damaged record"))
	case o.retire && l.kept > 0:
		return storeerr.New(l.stopped(o), "kept %s", count(int(l.kept), "old key")).
			WithHint("the warnings say why: --apply what has no equal yet, delete by hand what is not wanted")
	case o.apply && l.kept > 0:
		return storeerr.New(l.stopped(o), "left %s for the next run", count(int(l.kept), "row"))
	case o.retire && !o.DryRun && l.beside > 0:
		return storeerr.New(l.stopped(o), "kept %s beside the records", count(int(l.beside), "key")).
			WithHint("look at them by `keyspacectl inspect`: they are none that the layout has, or records came meanwhile")
	case l.collisions > 0 && !o.SkipCollisions:
		return storeerr.New(storeerr.Conflict, "%s in the current layout differ", count(int(l.collisions), "record"))
	}
	return nil
}

// stopped is the kind of an error behind which something is left: nothing has
// changed, or a part.
func (l *tallyLeft) stopped(o *migrateOptions) storeerr.Kind {
	if l.changed > 0 && !o.DryRun {
		return storeerr.Partial
	}
	return storeerr.Conflict
}
