package cmd

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
)

func newVersionCmd(f *Factory) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of the tool",
		Example: `  keyspacectl version -o json`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			out, err := f.offlinePrinter(render.Fields{Shown: []string{"version", "commit", "go", "platform"}})
			if err != nil {
				return err
			}
			return out.One(buildVersion())
		},
	}
}

// buildRecord says which build this is.
type buildRecord struct{ version, commit string }

// buildVersion reads what the Go toolchain recorded in the binary.
func buildVersion() buildRecord {
	b := buildRecord{version: "devel", commit: "unknown"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		b.version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.commit = s.Value
		}
	}
	return b
}

func (b buildRecord) Record(r *render.Record) {
	r.Text("version", b.version)
	r.Text("commit", b.commit)
	r.Text("go", runtime.Version())
	r.Text("platform", runtime.GOOS+"/"+runtime.GOARCH)
}
