package cmd

import "github.com/spf13/cobra"

func newWarmCmd(f *Factory) *cobra.Command {
	return group(&cobra.Command{Use: "warm"})
}
