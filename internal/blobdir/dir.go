// Directories: writing blobs into one, and listing those in one.

package blobdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/keyspacectl/keyspacectl/internal/outfile"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Writer writes blobs into a directory. It is not safe for concurrent use.
type Writer struct {
	dir       string
	overwrite bool
	index     *os.File // nil before the first long reference
}

// NewWriter prepares to write into a directory, which is made with the first
// blob if it does not exist. It is storeerr.Invalid when the path is no
// directory and, without overwrite, when there is anything in it.
func NewWriter(dir string, overwrite bool) (*Writer, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, storeerr.New(storeerr.Invalid, "cannot write to the directory: %w", err)
	case len(entries) > 0 && !overwrite:
		return nil, storeerr.New(storeerr.Invalid, "the directory %q is not empty", dir).
			WithHint("name another, or add --force to write into it and overwrite files")
	}
	return &Writer{dir: dir, overwrite: overwrite}, nil
}

// Write writes a blob, whole or not at all, and returns the name of its file.
func (w *Writer) Write(reference string, payload []byte) (name string, err error) {
	if err := os.MkdirAll(w.dir, 0o777); err != nil {
		return "", fmt.Errorf("making the directory: %w", err)
	}
	name = FileName(reference)
	if isDigest(name) {
		// First, so that no file stands there without its reference.
		if err := w.addToIndex(name, reference); err != nil {
			return name, err
		}
	}
	file, err := outfile.New(filepath.Join(w.dir, name), w.overwrite)
	if err != nil {
		return name, err
	}
	defer file.Discard()
	if _, err := file.Write(payload); err != nil {
		return name, err
	}
	return name, file.Commit()
}

// indexLine is a line of the index.
type indexLine struct {
	File      string `json:"file"`
	Reference string `json:"reference"`
}

// addToIndex adds a line behind those that are there: they may be of files
// that stay.
func (w *Writer) addToIndex(name, reference string) (err error) {
	if w.index == nil {
		w.index, err = os.OpenFile(filepath.Join(w.dir, IndexName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
		if err != nil {
			return fmt.Errorf("writing the index: %w", err)
		}
	}
	if err := json.NewEncoder(w.index).Encode(indexLine{name, reference}); err != nil {
		return fmt.Errorf("writing the index: %w", err)
	}
	return nil
}

// Close closes the index.
func (w *Writer) Close() error {
	if w.index == nil {
		return nil
	}
	if err := errors.Join(w.index.Sync(), w.index.Close()); err != nil {
		return fmt.Errorf("writing the index: %w", err)
	}
	return nil
}

// File is a blob in a directory.
type File struct {
	Reference string
	Path      string
	Size      int64
}

// List returns the blobs in a directory, by the names of their files. Hidden
// files are passed over. Anything else that is no blob, or is none that the
// store takes, is storeerr.Invalid.
func List(dir string) ([]File, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, storeerr.New(storeerr.Invalid, "opening the directory: %w", err)
	}
	index, err := readIndex(dir)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, ".") || name == IndexName {
			continue
		}
		file, err := fileOf(dir, entry, index)
		if err != nil {
			return nil, storeerr.New(storeerr.Invalid, "%q is no blob: %w", filepath.Join(dir, name), err)
		}
		files = append(files, file)
	}
	return files, nil
}

func fileOf(dir string, entry fs.DirEntry, index map[string]string) (File, error) {
	if !entry.Type().IsRegular() {
		return File{}, errors.New("it is no regular file")
	}
	ref, err := reference(entry.Name(), index)
	if err != nil {
		return File{}, err
	}
	info, err := entry.Info()
	if err != nil {
		return File{}, err
	}
	if info.Size() > blob.MaxPayloadBytes {
		return File{}, fmt.Errorf("it has %d bytes, the limit is %d", info.Size(), blob.MaxPayloadBytes)
	}
	return File{Reference: ref, Path: filepath.Join(dir, entry.Name()), Size: info.Size()}, nil
}

// readIndex reads which reference each file has that is named by a digest.
func readIndex(dir string) (map[string]string, error) {
	file, err := os.Open(filepath.Join(dir, IndexName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, storeerr.New(storeerr.Invalid, "opening the index: %w", err)
	}
	defer file.Close()
	index := map[string]string{}
	lines := json.NewDecoder(file)
	for number := 1; ; number++ {
		var line indexLine
		switch err := lines.Decode(&line); {
		case errors.Is(err, io.EOF):
			return index, nil
		case err != nil:
			return nil, storeerr.New(storeerr.Invalid, "entry %d of %s: %w", number, file.Name(), err)
		case FileName(line.Reference) != line.File:
			return nil, storeerr.New(storeerr.Invalid, "entry %d of %s names the file %q, and its reference belongs into %q",
				number, file.Name(), line.File, FileName(line.Reference))
		}
		index[line.File] = line.Reference
	}
}
