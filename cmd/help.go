package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func newHelpCmd(f *Factory) *cobra.Command {
	c := &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help on a command, or on exit-codes",
		Example: `  keyspacectl help scan
  keyspacectl help exit-codes`,
		RunE: func(c *cobra.Command, args []string) error {
			target, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return storeerr.New(storeerr.Invalid, "there is no help on %q", strings.Join(args, " ")).
					WithHint("see `keyspacectl --help`")
			}
			target.InitDefaultHelpFlag()
			if err := target.Help(); err != nil {
				return fmt.Errorf("printing help: %w", err)
			}
			return nil
		},
	}
	c.AddCommand(newHelpExitCodesCmd(f))
	return c
}

func newHelpExitCodesCmd(f *Factory) *cobra.Command {
	return &cobra.Command{
		Use:     "exit-codes",
		Short:   "What each exit status means",
		Example: `  keyspacectl help exit-codes`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			out, err := f.offlinePrinter(render.Fields{Shown: []string{"code", "name", "meaning"}, Whole: true})
			if err != nil {
				return err
			}
			return printAll(out, exitCodes())
		},
	}
}

// Record makes a row of the table a result.
func (e exitCode) Record(r *render.Record) {
	r.Int("code", int64(e.Code))
	r.Text("name", e.Name)
	r.Text("meaning", e.Meaning)
}
