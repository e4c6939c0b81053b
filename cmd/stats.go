package cmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/duration"
	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/doctor"
	"github.com/keyspacectl/keyspacectl/pkg/stats"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

type statsOptions struct {
	stats.Options
	names []string
	watch duration.Value
}

func newStatsCmd(f *Factory) *cobra.Command {
	var o statsOptions
	c := &cobra.Command{
		Use:   "stats [PREFIX]",
		Short: "Count what the stores hold: sizes, versions, expiries, what is due",
		Long: `Count what the stores of a prefix hold: rows, blobs and chunks, their sizes,
their versions and when they expire; the largest of them and the rows near the
backlog of 128 versions; writes a second, what is due for collection and since
when, and the snapshots that are open.

With PREFIX only keys and references that begin with it are counted; writes,
collection and snapshots are those of the whole store, and the warm store has
no such keys. Without --store the stores are those of which there is anything.

One pass in bounded memory, beside the applications: it opens no snapshot, and
takes each row as it is when it is reached. What is damaged is told on the
standard error, and makes the exit status 7. The blob and the warm store take a
look through the whole keyspace of the server.

Writes a second are batches by the counter, between two passes with --watch and
otherwise while the pass lasts; they are null where that is under 100 ms.`,
		Example: `  keyspacectl stats
  keyspacectl stats sessions/ --store opaque --top 3
  keyspacectl stats -o json | jq '.opaque.rows, .opaque.cleanup.due'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			stores, err := o.check(f, args)
			if err != nil {
				return err
			}
			return o.run(c.Context(), f, stores)
		},
	}
	c.Flags().StringSliceVar(&o.names, "store", nil, "a `STORE` to count: opaque, blob or warm (repeatable; all by default)")
	// It fails only for a flag that does not exist.
	_ = c.RegisterFlagCompletionFunc("store", cobra.FixedCompletions([]string{"opaque", "blob", "warm"}, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().IntVar(&o.Top, "top", 10, "name this `NUMBER` of the largest, 0 to 1000")
	c.Flags().Var(&o.watch, "watch", "count again and again, with a pause of this `DURATION`, until interrupted")
	return c
}

// check reads the arguments, and opens the stores that are asked for.
func (o *statsOptions) check(f *Factory, args []string) (s stats.Stores, err error) {
	if o.Top < 0 || o.Top > stats.MaxTop {
		return s, storeerr.New(storeerr.Invalid, "--top is 0 to %d, not %d", stats.MaxTop, o.Top)
	}
	for _, name := range o.names {
		if _, err := doctor.ParseStore(name); err != nil {
			return s, err
		}
	}
	if len(args) > 0 {
		if o.Prefix, err = f.key(args[0]); err != nil {
			return s, err
		}
	}
	if o.Prefix != "" && slices.Contains(o.names, string(doctor.Warm)) {
		return s, storeerr.New(storeerr.Invalid, "the warm store has no keys that could begin with %q", o.Prefix)
	}
	o.Found = len(o.names) == 0
	wanted := func(store doctor.Store) bool { return o.Found || slices.Contains(o.names, string(store)) }
	if err == nil && wanted(doctor.Opaque) {
		s.Opaque, err = f.opaque(reads)
	}
	if err == nil && wanted(doctor.Blob) {
		s.Blob, err = f.blobs(reads)
	}
	if err == nil && o.Prefix == "" && wanted(doctor.Warm) {
		// There is no warm store of a prefix that it does not take.
		if s.Warm, err = f.warm(reads); o.Found && storeerr.KindOf(err) == storeerr.Invalid {
			err = nil
		}
	}
	return s, err
}

func (o *statsOptions) run(ctx context.Context, f *Factory, stores stats.Stores) error {
	out, err := f.printer(statsFields())
	if err != nil {
		return err
	}
	for {
		damaged := damage{what: "record"}
		o.Damaged = func(err error) { damaged.add(f, err) }
		progress := f.progress("rows, blobs and chunks")
		o.Progress = progress.Add
		report, err := stats.Look(ctx, stores, o.Options)
		progress.Stop()
		switch {
		case err != nil:
			return err
		case *report == stats.Report{}:
			return storeerr.New(storeerr.NotFound, "there is no store of prefix %q", f.settings.Prefix)
		}
		if o.watch > 0 {
			if err := f.startAgain(o.Since == nil); err != nil {
				return err
			}
		}
		if err := out.One(statsRecord{report, f.settings.Prefix, o.Prefix}); err != nil {
			return err
		}
		if o.watch == 0 {
			return damaged.err()
		}
		o.Since = report
		select {
		case <-ctx.Done():
			return fmt.Errorf("watching: %w", ctx.Err())
		case <-time.After(time.Duration(o.watch)):
		}
	}
}

// startAgain comes before each of several results: a terminal shows the last
// one alone, and documents of YAML are told apart.
func (f *Factory) startAgain(first bool) error {
	format, err := f.format(false)
	lead := ""
	switch {
	case format == render.Table && f.outTerminal():
		lead = "\x1b[H\x1b[2J"
	case format == render.YAML && !first:
		lead = "---\n"
	}
	if err == nil && lead != "" {
		_, err = io.WriteString(f.Out, lead)
	}
	return err
}
