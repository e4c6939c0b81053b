package cmd

import (
	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/config"
	"github.com/keyspacectl/keyspacectl/internal/render"
)

func newConfigShowCmd(f *Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "show [NAME]",
		Short: "Show the settings in effect, or those of a context",
		Long: `Show the settings in effect and where each comes from: a flag, a variable, the
context in use or the default. With a name, show what that context of the config
file says. Passwords are masked; no password command is run.`,
		Example: `  keyspacectl config show
  keyspacectl config show --context prod
  keyspacectl config show prod`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			values, err := f.values(args)
			if err != nil {
				return err
			}
			out, err := f.printer(render.Fields{Shown: []string{"setting", "value", "source"}})
			if err != nil {
				return err
			}
			var records []valueRecord
			for _, v := range values {
				records = append(records, valueRecord(v))
			}
			return printAll(out, records)
		},
	}
}

// values are those of the context named, else those in effect.
func (f *Factory) values(args []string) ([]config.Value, error) {
	if len(args) == 1 {
		contexts, err := f.contexts()
		if err != nil {
			return nil, err
		}
		return contexts.Values(args[0])
	}
	s, err := f.Settings()
	if err != nil {
		return nil, err
	}
	return s.Values(), nil
}

// valueRecord is a setting with its value.
type valueRecord config.Value

// Record says what the setting is and where that stands.
func (v valueRecord) Record(r *render.Record) {
	r.Text("setting", v.Name)
	r.Text("value", v.Value)
	r.Text("source", v.Source)
}
