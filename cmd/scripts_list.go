package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
)

func newScriptsListCmd(f *Factory) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the scripts with their SHA-1s",
		Example: `  keyspacectl scripts list`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			out, err := f.offlinePrinter(scriptFields())
			if err != nil {
				return err
			}
			var records []scriptRecord
			for _, s := range luascripts.All() {
				records = append(records, scriptRecord{Script: s})
			}
			return printAll(out, records)
		},
	}
}

func scriptFields() render.Fields {
	return render.Fields{Shown: []string{"name", "sha1", "size", "does"}, Hidden: []string{"loaded"}, Whole: true}
}

// scriptRecord is a script and, once a server was asked, whether it knows it.
type scriptRecord struct {
	*luascripts.Script
	loaded bool
}

func (s scriptRecord) Record(r *render.Record) {
	r.Text("name", s.Name)
	r.Text("sha1", s.SHA1)
	r.Size("size", int64(len(s.Source)))
	r.Text("does", s.purpose())
	if s.loaded {
		r.Bool("loaded", true)
	}
}

// purpose is the first sentence of the script's header.
func (s scriptRecord) purpose() string {
	text := strings.ReplaceAll(strings.TrimPrefix(s.Doc, s.Name+": "), "\n", " ")
	first, _, _ := strings.Cut(text, ". ")
	return strings.TrimSuffix(first, ".")
}
