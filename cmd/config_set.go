package cmd

import "github.com/spf13/cobra"

func newConfigSetCmd(f *Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Give a setting of a context a value",
		Long: `Give a setting of a context a value: of the one that --context names, else of
the current one. The file and the context are made where there are none. What
would not load is refused, and the file left as it is. Comments and the order of
keys stay.

A password is not set here but where a context can get it: by password-file or
password-command.`,
		Example: `  keyspacectl config set url rediss://redis.example:6379 --context prod
  keyspacectl config set password-file /run/secrets/redis --context prod
  keyspacectl config set prefix app --context prod
  keyspacectl config use prod`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			contexts, err := f.contexts()
			if err != nil {
				return err
			}
			out, err := f.printer(changedFields())
			if err != nil {
				return err
			}
			if err := contexts.Set(args[0], args[1]); err != nil {
				return err
			}
			return out.One(changed{contexts.Chosen, args[0], contexts.Path, ""})
		},
	}
}
