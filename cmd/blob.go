package cmd

import "github.com/spf13/cobra"

func newBlobCmd(f *Factory) *cobra.Command {
	return group(&cobra.Command{Use: "blob"})
}
