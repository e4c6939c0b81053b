// Input: keys and values as arguments, files and the standard input.

package cmd

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/keyformat"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// key reads a key given as an argument, in the format of --key-format.
func (f *Factory) key(text string) (string, error) {
	s, err := f.Settings()
	if err != nil {
		return "", err
	}
	key, err := keyformat.Parse(s.KeyFormat, text)
	if err != nil {
		return "", storeerr.New(storeerr.Invalid, "the key %q: %w", text, err)
	}
	return key, nil
}

// keys reads several keys.
func (f *Factory) keys(texts []string) ([]string, error) {
	keys := make([]string, len(texts))
	for i, text := range texts {
		var err error
		if keys[i], err = f.key(text); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// openInput opens a file to read, until the command line ends; - is the
// standard input. One that can be read again is an io.Seeker. A pipe may let
// opening it wait, and each read: they end with the command's context.
func (f *Factory) openInput(path string) (io.Reader, error) {
	if path == "-" {
		return f.In, nil
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		err = errors.New("it is a directory")
	}
	var file *os.File
	if err == nil {
		file, err = await(f.ctx, func() (*os.File, error) { return os.Open(path) })
	}
	if err != nil {
		return nil, storeerr.New(storeerr.Invalid, "cannot read %q: %w", path, err)
	}
	f.closers = append(f.closers, func() error {
		_ = file.Close() // what was read stays read
		return nil
	})
	if !info.Mode().IsRegular() {
		return &input{Reader: file, ctx: f.ctx}, nil
	}
	return file, nil
}

// valueSource is where a command takes its value from: an argument, a file,
// or the standard input.
type valueSource struct {
	arg  *string
	file string
}

func (v *valueSource) register(c *cobra.Command, what string) {
	c.Flags().StringVarP(&v.file, "file", "f", "", "take the "+what+" from this `FILE`; - is the standard input")
}

// fromArgs takes the value from the argument behind the others, if it is there.
func (v *valueSource) fromArgs(args []string, at int) {
	if len(args) > at {
		v.arg = &args[at]
	}
}

// check refuses two sources, and none at a terminal, before anything is opened.
func (v *valueSource) check(f *Factory) error {
	switch {
	case v.arg != nil && v.file != "":
		return storeerr.New(storeerr.Invalid, "the value is given twice: as an argument and by --file")
	case v.arg == nil && v.file == "" && f.inTerminal():
		return storeerr.New(storeerr.Invalid, "no value is given").
			WithHint("give it as an argument, by --file, or through a pipe")
	}
	return nil
}

// read returns the value's bytes, and refuses one of more than limit bytes
// without reading it all.
func (v *valueSource) read(f *Factory, limit int64) ([]byte, error) {
	if v.arg != nil {
		return []byte(*v.arg), nil
	}
	if v.file == "" || v.file == "-" {
		return readLimited(f.In, "the standard input", limit, 0)
	}
	file, err := os.Open(v.file)
	if err != nil {
		return nil, storeerr.New(storeerr.Invalid, "opening the value: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the value: %w", err)
	}
	return readLimited(file, v.file, limit, info.Size())
}

// readLimited reads all of r, expected to have size bytes, or any number up to
// the limit where that is 0: what is set aside and not filled takes no memory,
// where growing would copy.
func readLimited(r io.Reader, name string, limit, size int64) ([]byte, error) {
	if size > limit {
		return nil, tooLarge(name, limit)
	}
	if size == 0 {
		size = limit
	}
	value := make([]byte, 0, size+512)
	for {
		n, err := r.Read(value[len(value):cap(value)])
		value = value[:len(value)+n]
		if int64(len(value)) > limit {
			return nil, tooLarge(name, limit)
		}
		if err == io.EOF {
			return value, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		if len(value) == cap(value) {
			value = append(value, 0)[:len(value)]
		}
	}
}

func tooLarge(name string, limit int64) error {
	return storeerr.New(storeerr.Invalid, "%s has more than %d bytes, the limit of a value", name, limit)
}
