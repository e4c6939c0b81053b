package cmd

import (
	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/config"
	"github.com/keyspacectl/keyspacectl/internal/render"
)

func newConfigPathCmd(f *Factory) *cobra.Command {
	return &cobra.Command{
		Use:     "path",
		Short:   "Say where the config file is, or would be",
		Example: `  keyspacectl config path`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path, err := config.Path(f.flags, f.Getenv)
			if err != nil {
				return err
			}
			if err := f.withoutFile(); err != nil {
				return err
			}
			out, err := f.printer(render.Fields{Shown: []string{"path"}})
			if err != nil {
				return err
			}
			return out.One(pathRecord(path))
		},
	}
}

// pathRecord is the name of a file.
type pathRecord string

// Record names the file.
func (p pathRecord) Record(r *render.Record) { r.Text("path", string(p)) }
