package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func newCompletionCmd(f *Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the script that completes commands in a shell",
		Long: `Print the script that completes commands and flags in a shell.

  bash:        source <(keyspacectl completion bash)
  zsh:         keyspacectl completion zsh > "${fpath[1]}/_keyspacectl"
  fish:        keyspacectl completion fish > ~/.config/fish/completions/keyspacectl.fish
  powershell:  keyspacectl completion powershell | Out-String | Invoke-Expression`,
		Example:   `  keyspacectl completion bash`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			write := map[string]func() error{
				"bash":       func() error { return root.GenBashCompletionV2(f.Out, true) },
				"zsh":        func() error { return root.GenZshCompletion(f.Out) },
				"fish":       func() error { return root.GenFishCompletion(f.Out, true) },
				"powershell": func() error { return root.GenPowerShellCompletionWithDesc(f.Out) },
			}[args[0]]
			if write == nil {
				return storeerr.New(storeerr.Invalid, "unknown shell %q: there are bash, zsh, fish and powershell", args[0])
			}
			if err := write(); err != nil {
				return fmt.Errorf("printing the script: %w", err)
			}
			return nil
		},
	}
}
