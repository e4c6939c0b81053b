package cmd

import "github.com/spf13/cobra"

func newConfigUnsetCmd(f *Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "unset KEY",
		Short: "Take a setting out of a context",
		Long: `Take a setting out of a context: of the one that --context names, else of the
current one. The default, or a flag or variable, then counts again. Where the
context does not have the setting the status is 3. What would not load is
refused, and the file left as it is.`,
		Example: `  keyspacectl config set prefix app --context prod
  keyspacectl config unset prefix --context prod`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			contexts, err := f.contexts()
			if err != nil {
				return err
			}
			out, err := f.printer(changedFields())
			if err != nil {
				return err
			}
			if err := contexts.Unset(args[0]); err != nil {
				return err
			}
			return out.One(changed{contexts.Chosen, args[0], contexts.Path, "removed"})
		},
	}
}
