package cmd

import (
	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
)

func newConfigListCmd(f *Factory) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the contexts of the config file",
		Example: `  keyspacectl config list`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			contexts, err := f.contexts()
			if err != nil {
				return err
			}
			out, err := f.printer(render.Fields{Shown: []string{"name", "current"}})
			if err != nil {
				return err
			}
			var records []contextRecord
			for _, name := range contexts.Names() {
				records = append(records, contextRecord{name, name == contexts.Current()})
			}
			return printAll(out, records)
		},
	}
}

// contextRecord is a context of the config file.
type contextRecord struct {
	name    string
	current bool
}

// Record names the context, and says whether it is the current one.
func (c contextRecord) Record(r *render.Record) {
	r.Text("name", c.name)
	r.Bool("current", c.current)
}
