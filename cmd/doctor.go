package cmd

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/doctor"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func newDoctorCmd(f *Factory) *cobra.Command {
	var stores []string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check the server against what the stores need",
		Long: `Check the server's settings, the connection and the rights of the user against
what the stores need. Of a cluster every primary is checked: what all of them
say alike is one line. Nothing is written, and no key is looked at.

A check is ok, warning, failed, or skipped where the server does not tell. The
status is 7 when a check failed, and 0 with nothing worse than warnings. What a
finding means is a column of its own: --columns check,found,means, or -o json.

With --prefix the rights are checked for the keys of that prefix; the column
needs has what ACL SETUSER takes to give them. A context that is read-only
needs no rights to write, and a replica will do for it.`,
		Example: `  keyspacectl doctor
  keyspacectl doctor --store opaque --store blob
  keyspacectl doctor --columns check,status,needs
  keyspacectl doctor -o json | jq '.[] | select(.status == "failed")'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o, err := doctorOptions(f, stores)
			if err != nil {
				return err
			}
			return runDoctor(c.Context(), f, o)
		},
	}
	c.Flags().StringSliceVar(&stores, "store", nil, "a `STORE` that is in use: opaque, blob or warm (repeatable; all by default)")
	return c
}

func doctorOptions(f *Factory, stores []string) (doctor.Options, error) {
	s, err := f.Settings()
	if err != nil {
		return doctor.Options{}, err
	}
	o := doctor.Options{Prefix: s.Prefix, ReadOnly: s.ReadOnly}
	for _, name := range stores {
		store, err := doctor.ParseStore(name)
		if err != nil {
			return o, err
		}
		o.Stores = append(o.Stores, store)
	}
	return o, nil
}

func runDoctor(ctx context.Context, f *Factory, o doctor.Options) error {
	fields := render.Fields{Shown: []string{"check", "status", "found", "advice"}, Hidden: []string{"node", "store", "means", "needs"}, Whole: true}
	if f.settings.Target.Cluster {
		fields = render.Fields{Shown: []string{"check", "node", "status", "found", "advice"}, Hidden: []string{"store", "means", "needs"}, Whole: true}
	}
	out, err := f.printer(fields)
	if err != nil {
		return err
	}
	client, err := f.connect(reads)
	if err != nil {
		return err
	}
	results, err := doctor.Run(ctx, client, o)
	if err != nil {
		return err
	}
	var records []checkRecord
	var failed []string
	for _, r := range results {
		records = append(records, checkRecord(r))
		if r.Status == doctor.Failed && !slices.Contains(failed, r.Check) {
			failed = append(failed, r.Check)
		}
	}
	if err := printAll(out, records); err != nil || len(failed) == 0 {
		return err
	}
	return storeerr.New(storeerr.Integrity, "failed: %s", strings.Join(failed, ", ")).
		WithHint("-o json says what each means")
}

// checkRecord is what one check found.
type checkRecord doctor.Result

func (c checkRecord) Record(r *render.Record) {
	r.Text("check", c.Check)
	if c.Node == "" {
		r.Null("node")
	} else {
		r.Text("node", c.Node)
	}
	r.Text("status", string(c.Status))
	r.Text("store", string(c.Store))
	r.Text("found", c.Found)
	r.Text("means", c.Means)
	r.Text("advice", c.Advice)
	if c.Needs != "" {
		r.Text("needs", c.Needs)
	}
}
