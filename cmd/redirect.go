// Output to a file in place of the standard output: --out.

package cmd

import (
	"github.com/keyspacectl/keyspacectl/internal/outfile"
)

// redirect lets all output go to a file, unless path is empty or -. The caller
// commits the file when it is written, and in any case discards it at the end.
func (f *Factory) redirect(path string, overwrite bool) (*outfile.File, error) {
	if path == "" || path == "-" {
		return nil, nil
	}
	file, err := outfile.New(path, overwrite)
	if err != nil {
		return nil, err
	}
	f.Out, f.Width = file, 0
	return file, nil
}
