// Archives to read: from files, from pipes that have a name, and from the
// standard input.

package cmd

import (
	"fmt"
	"io"

	"github.com/keyspacectl/keyspacectl/pkg/archive"
)

// archiveFile is an archive that is being read.
type archiveFile struct {
	*archive.Reader
	again func() (*archive.Reader, error) // begins anew; nil where what was read is gone, as from a pipe

	from  io.Reader
	plain io.ReadCloser // what from holds, decompressed
}

// openArchive begins to read the archive in a file, until the command line
// ends; - is the standard input.
func (f *Factory) openArchive(path string) (*archiveFile, error) {
	from, err := f.openInput(path)
	if err != nil {
		return nil, err
	}
	a := &archiveFile{from: from}
	if file, ok := from.(io.Seeker); ok {
		a.again = func() (*archive.Reader, error) {
			if _, err := file.Seek(0, io.SeekStart); err != nil {
				return nil, fmt.Errorf("reading the archive again: %w", err)
			}
			_ = a.close()
			err := a.begin()
			return a.Reader, err
		}
	}
	f.closers = append(f.closers, a.close)
	return a, a.begin()
}

// begin reads the header.
func (a *archiveFile) begin() (err error) {
	if a.plain, err = archive.Decompress(a.from); err == nil {
		a.Reader, err = archive.NewReader(a.plain)
	}
	return err
}

func (a *archiveFile) close() error {
	if a.plain != nil {
		_ = a.plain.Close() // what was read stays read
	}
	return nil
}
