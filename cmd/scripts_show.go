package cmd

import (
	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func newScriptsShowCmd(f *Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Print a script as it is sent to the server",
		Example: `  keyspacectl scripts show opaque_write
  keyspacectl scripts show opaque_write | sha1sum`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			script, ok := luascripts.Lookup(args[0])
			if !ok {
				return storeerr.New(storeerr.NotFound, "there is no script %q", args[0]).WithHint("see `keyspacectl scripts list`")
			}
			s, err := f.offline()
			if err != nil {
				return err
			}
			if s.Output == "" {
				// Source is text for people and programs alike.
				s.Output = render.Raw
			}
			out, err := f.printer(render.Fields{Shown: []string{"name", "sha1", "source"}, Raw: "source"})
			if err != nil {
				return err
			}
			return out.One(sourceRecord{script})
		},
	}
}

// sourceRecord is a script with its source.
type sourceRecord struct{ *luascripts.Script }

func (s sourceRecord) Record(r *render.Record) {
	r.Text("name", s.Name)
	r.Text("sha1", s.SHA1)
	r.Value("source", s.Source)
}
