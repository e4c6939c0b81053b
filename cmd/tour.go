package cmd

import "github.com/spf13/cobra"

func newTourCmd(f *Factory) *cobra.Command {
	return group(&cobra.Command{Use: "tour"})
}
