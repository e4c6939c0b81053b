package cmd

import "github.com/spf13/cobra"

func newScriptsCmd(f *Factory) *cobra.Command {
	return group(&cobra.Command{
		Use:   "scripts",
		Short: "See the Lua that the tool runs",
		Long: `See the Lua that the tool runs on the server: names and SHA-1s as SLOWLOG, MONITOR
and audits show them, and the source as it is sent.`,
	}, newScriptsListCmd(f), newScriptsShowCmd(f), newScriptsLoadCmd(f))
}
