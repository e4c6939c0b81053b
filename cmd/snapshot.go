package cmd

import "github.com/spf13/cobra"

func newSnapshotCmd(f *Factory) *cobra.Command {
	return group(&cobra.Command{
		Use:   "snapshot",
		Short: "See and end the snapshots of the versioned store, and collect",
		Long: `See and end the snapshots of the versioned store, and collect what no snapshot
and no reader needs any more.

An open snapshot keeps the versions of its moment: a row takes 127 more puts,
then every batch that names it is refused, to all applications, until the
snapshot ends.`,
	}, newSnapshotListCmd(f), newSnapshotGCCmd(f), newSnapshotDropCmd(f))
}
