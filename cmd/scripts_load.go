package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
)

func newScriptsLoadCmd(f *Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "load",
		Short: "Load every script into the server's script cache",
		Long: `Load every script into the server's script cache, by SCRIPT LOAD. No command needs
it: a script that the server does not know is sent with its first call.`,
		Example: `  keyspacectl scripts load`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runScriptsLoad(c.Context(), f) },
	}
}

func runScriptsLoad(ctx context.Context, f *Factory) error {
	out, err := f.printer(scriptFields())
	if err != nil {
		return err
	}
	client, err := f.connect(writes)
	if err != nil {
		return err
	}
	ctx, cancel := f.operation(ctx)
	defer cancel()
	if err := luascripts.Load(ctx, client); err != nil {
		return err
	}
	var records []scriptRecord
	for _, s := range luascripts.All() {
		records = append(records, scriptRecord{s, true})
	}
	return printAll(out, records)
}
