package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

func newSnapshotListCmd(f *Factory) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List snapshots, the one that holds back most first",
		Long: `List the snapshots of the versioned store, the one that holds back most first.

"behind" is how many batches were applied since a snapshot's moment: their
older versions cannot be collected while it is open. An ended snapshot guards
nothing any more, and is taken out by the next write or by snapshot gc.`,
		Example: `  keyspacectl snapshot list
  keyspacectl snapshot list -o json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runSnapshotList(c.Context(), f) },
	}
}

func runSnapshotList(ctx context.Context, f *Factory) error {
	out, err := f.printer(render.Fields{
		Shown:  []string{"id", "opened_at", "boundary", "behind", "expires_at", "state", "prefix"},
		Hidden: []string{"ttl_ms"},
	})
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
