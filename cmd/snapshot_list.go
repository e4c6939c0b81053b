package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/stats"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

type snapshotListOptions struct {
	held bool
	top  int
}

func newSnapshotListCmd(f *Factory) *cobra.Command {
	var o snapshotListOptions
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List snapshots, the one that holds back most first",
		Long: `List the snapshots of the versioned store, the one that holds back most first.

"behind" is how many batches were applied since a snapshot's moment: their
older versions cannot be collected while it is open. An ended snapshot guards
nothing any more, and is taken out by the next write or by snapshot gc.

--held looks through all rows, in bounded memory, for what each snapshot holds
back: in how many rows, how many versions and bytes, and how many rows it holds
near the backlog of 128 versions, at which their writes are refused; in JSON and
YAML the fullest of them by name. What several snapshots hold counts for each.`,
		Example: `  keyspacectl snapshot list
  keyspacectl snapshot list --held
  keyspacectl snapshot list --held -o json | jq '.[0].fullest'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case o.top < 0 || o.top > stats.MaxTop:
				return storeerr.New(storeerr.Invalid, "--top is 0 to %d, not %d", stats.MaxTop, o.top)
			case o.held:
				return o.runHeld(c.Context(), f)
			case c.Flags().Changed("top"):
				return storeerr.New(storeerr.Invalid, "--top goes with --held")
			}
			return o.run(c.Context(), f)
		},
	}
	c.Flags().BoolVar(&o.held, "held", false, "look through all rows for what each holds back")
	c.Flags().IntVar(&o.top, "top", 10, "name this `NUMBER` of the fullest rows, 0 to 1000")
	return c
}

func snapshotFields() render.Fields {
	return render.Fields{
		Shown:  []string{"id", "opened_at", "boundary", "behind", "expires_at", "state", "prefix"},
		Whole:  true,
		Hidden: []string{"ttl_ms"},
	}
}

func (o *snapshotListOptions) run(ctx context.Context, f *Factory) error {
	out, err := f.printer(snapshotFields())
	if err != nil {
		return err
	}
	store, err := f.opaque(reads)
	if err != nil {
		return err
	}
	ctx, cancel := f.operation(ctx)
	defer cancel()
	now, states, err := store.Snapshots(ctx)
	if err != nil {
		return err
	}
	out.SetNow(now)
	records := make([]snapshotStateRecord, len(states))
	for i, s := range states {
		records[i] = snapshotStateRecord(s)
	}
	return printAll(out, records)
}

func (o *snapshotListOptions) runHeld(ctx context.Context, f *Factory) error {
	fields := snapshotFields()
	fields.Shown = []string{"id", "opened_at", "behind", "state", "held_rows", "held_versions", "held_bytes", "near_backlog"}
	fields.Hidden = append(fields.Hidden, "boundary", "expires_at", "prefix", "fullest")
	out, err := f.printer(fields)
	if err != nil {
		return err
	}
	store, err := f.opaque(reads)
	if err != nil {
		return err
	}
	progress := f.progress("rows")
	defer progress.Stop()
	var damaged damage
	now, held, err := stats.HeldBack(ctx, store, stats.Options{
		Top: o.top, Progress: progress.Add, Damaged: func(err error) { damaged.add(f, err) },
	})
	progress.Stop()
	if err != nil {
		return err
	}
	out.SetNow(now)
	records := make([]heldRecord, len(held))
	for i, h := range held {
		records[i] = heldRecord(h)
	}
	if err := printAll(out, records); err != nil {
		return err
	}
	return damaged.err()
}

// snapshotStateRecord is what Redis knows of a snapshot.
type snapshotStateRecord opaque.SnapshotState

func (s snapshotStateRecord) Record(r *render.Record) {
	r.Text("id", s.ID)
	r.Time("opened_at", s.Now)
	if s.Boundary == "" {
		r.Null("boundary")
		r.Null("behind")
	} else {
		r.Text("boundary", s.Boundary)
		r.Int("behind", s.Behind)
	}
	r.Time("expires_at", s.ExpiresAt)
	r.Text("state", s.state())
	r.Bytes("prefix", s.Prefix)
	r.Int("ttl_ms", s.TTL.Milliseconds())
}

// state is open, ended, or broken: one of its three records is missing.
func (s snapshotStateRecord) state() string {
	switch {
	case s.Ended:
		return "ended"
	case s.TTL == 0 || s.ExpiresAt == 0 || s.Boundary == "":
		return "broken"
	}
	return "open"
}

// heldRecord is a snapshot with what it holds back.
type heldRecord stats.Held

func (h heldRecord) Record(r *render.Record) {
	snapshotStateRecord(h.SnapshotState).Record(r)
	r.Int("held_rows", h.Rows)
	r.Int("held_versions", h.Versions)
	r.Size("held_bytes", h.Bytes)
	r.Int("near_backlog", h.Near)
	render.List(r, "fullest", keyedRecords(h.Fullest, "key", "versions"))
}
