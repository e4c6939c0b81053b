package cmd

import "github.com/spf13/cobra"

func newConfigUseCmd(f *Factory) *cobra.Command {
	return &cobra.Command{
		Use:     "use NAME",
		Short:   "Make a context the current one",
		Example: `  keyspacectl config use prod`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			contexts, err := f.contexts()
			if err != nil {
				return err
			}
			out, err := f.printer(changedFields())
			if err != nil {
				return err
			}
			if err := contexts.Use(args[0]); err != nil {
				return err
			}
			return out.One(changed{args[0], "current-context", contexts.Path, ""})
		},
	}
}
