// Package outfile writes files that are there whole or not at all.
//
// What is written stands aside in the same directory until [File.Commit] makes
// it last and gives it its name. Nothing is created before the first write, so
// a command that finds nothing leaves nothing. What is no regular file, as a
// pipe or /dev/null, is written to in place.
package outfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// File is a file to be. A nil File has nothing to commit or discard. It is not
// safe for concurrent use.
type File struct {
	path      string
	overwrite bool
	inPlace   bool        // it is no regular file
	mode      fs.FileMode // of the file that is replaced, or 0
	file      *os.File    // nil before the first write and after the end
	done      bool
}

// New prepares to write to a path; a symbolic link stays and its target is
// written. It creates nothing. It is storeerr.Invalid when the directory does
// not exist, when the path is a directory, and, without overwrite, when it is
// a file.
func New(path string, overwrite bool) (*File, error) {
	f := &File{path: path, overwrite: overwrite}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if dir, err := os.Stat(filepath.Dir(path)); path == "" || err != nil || !dir.IsDir() {
			return nil, storeerr.New(storeerr.Invalid, "cannot write %q: there is no such directory", path)
		}
		return f, nil
	case err != nil:
		return nil, storeerr.New(storeerr.Invalid, "cannot write %q: %w", path, cause(err))
	case info.IsDir():
		return nil, storeerr.New(storeerr.Invalid, "cannot write %q: it is a directory", path)
	case !info.Mode().IsRegular():
		f.inPlace = true
		return f, nil
	case !overwrite:
		return nil, f.exists()
	}
	f.mode = info.Mode().Perm()
	if f.path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, storeerr.New(storeerr.Invalid, "cannot write %q: %w", path, cause(err))
	}
	return f, nil
}

// Aside tells whether the file is one that appears when it is whole. A nil File
// and what is written to in place are not.
func (f *File) Aside() bool { return f != nil && !f.inPlace }

// Private makes the file readable by its owner alone, whatever the mode of the
// one that it replaces.
func (f *File) Private() { f.mode = 0o600 }

func (f *File) exists() error {
	return storeerr.New(storeerr.Invalid, "the file %q exists", f.path).WithHint("add --force to overwrite it")
}

// Write writes p behind what was written before.
func (f *File) Write(p []byte) (int, error) {
	if err := f.open(); err != nil {
		return 0, f.failed(err)
	}
	n, err := f.file.Write(p)
	return n, f.failed(err)
}

func (f *File) open() (err error) {
	switch {
	case f.file != nil:
		return nil
	case f.done:
		return fs.ErrClosed
	case f.inPlace:
		f.file, err = os.OpenFile(f.path, os.O_WRONLY, 0)
		return err
	}
	aside := filepath.Join(filepath.Dir(f.path), ".keyspacectl-"+strings.ToLower(rand.Text()))
	if f.file, err = os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return err
	}
	if f.mode != 0 {
		return f.file.Chmod(f.mode)
	}
	return nil
}

// Commit puts the file in its place, an empty one if nothing was written. It
// is storeerr.Invalid when, without overwrite, a file has appeared there.
func (f *File) Commit() error {
	if f == nil {
		return nil
	}
	defer f.Discard()
	if err := f.open(); err != nil {
		return f.failed(err)
	}
	if f.inPlace {
		f.done = true
		return f.failed(f.file.Close())
	}
	if err := errors.Join(f.file.Sync(), f.file.Close()); err != nil {
		return f.failed(err)
	}
	if err := f.name(); err != nil {
		return err
	}
	f.done = true
	return nil
}

// name gives the file its name. A link, unlike a rename, fails where another
// file has it; not every file system has links.
func (f *File) name() error {
	aside := f.file.Name()
	if !f.overwrite {
		err := os.Link(aside, f.path)
		if err == nil {
			return f.failed(os.Remove(aside))
		}
		if _, statErr := os.Lstat(f.path); errors.Is(err, fs.ErrExist) || statErr == nil {
			return f.exists()
		}
	}
	return f.failed(os.Rename(aside, f.path))
}

// Discard removes what was written, unless it is committed.
func (f *File) Discard() {
	if f == nil || f.file == nil || f.done {
		return
	}
	f.done = true
	_ = f.file.Close() // nobody wants the file any more
	if !f.inPlace {
		_ = os.Remove(f.file.Name())
	}
}

// failed names the file as the user knows it.
func (f *File) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("writing %s: %w", f.path, cause(err))
}

// cause returns an error of a file without the name of the one that stands
// aside.
func cause(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return link.Err
	}
	return err
}
