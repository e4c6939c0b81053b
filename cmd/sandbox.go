package cmd

import "github.com/spf13/cobra"

func newSandboxCmd(f *Factory) *cobra.Command {
	return group(&cobra.Command{Use: "sandbox"})
}
