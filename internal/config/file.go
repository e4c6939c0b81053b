// Reading the config file: strict about every key and value in it, whether or
// not this run uses them.

package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// file is what a config file says.
type file struct {
	path     string
	current  string // the value of current-context, or empty
	contexts []fileContext
	document yaml.Node // the whole, or the zero Node for a file without keys
	comments string    // all that a file without keys holds
}

// fileContext is one entry of the list of contexts.
type fileContext struct {
	name   string
	values map[string]string
}

// defaultPath returns where the config file is unless it is named, or nothing
// when there is no home to look in.
func defaultPath(getenv func(string) string) string {
	base := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) { // as the XDG specification has it
		home := getenv("HOME")
		if home == "" {
			return ""
		}
		base = filepath.Join(home, ".config")
	}
	return filepath.Join(base, "keyspacectl", "config.yaml")
}

// readFile reads the config file at path. Where it need not exist and does
// not, the result is an empty file.
func readFile(path string, mustExist bool) (*file, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !mustExist {
		return &file{path: path}, nil
	}
	if err != nil {
		return nil, storeerr.New(storeerr.Invalid, "reading the config file: %w", err)
	}
	return parseFile(path, data)
}

// parseFile reads what a config file holds.
func parseFile(path string, data []byte) (*file, error) {
	f := &file{path: path}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	switch err := decoder.Decode(&f.document); {
	case errors.Is(err, io.EOF):
		f.comments = strings.TrimSpace(string(data))
		return f, nil
	case err != nil:
		return nil, f.fail("", nil, "is no YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var more yaml.Node
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, f.fail("", &more, "holds more than one YAML document")
	}
	return f, f.read(f.document.Content[0])
}

// fail returns an error about a key of the file, or about the file, and names
// the line of a node.
func (f *file) fail(key string, at *yaml.Node, format string, args ...any) error {
	where := f.path
	if key != "" {
		where += ": " + key
	}
	if at != nil && at.Line > 0 {
		format, args = format+" (line %d)", append(args, at.Line)
	}
	return invalid(where, fmt.Errorf(format, args...))
}

// read takes the top of the file.
func (f *file) read(root *yaml.Node) error {
	if root.ShortTag() == "!!null" {
		return nil
	}
	keys, err := f.mapping("", root)
	if err != nil {
		return err
	}
	for _, entry := range keys {
		switch entry.key {
		case "current-context":
			f.current, err = f.scalar(entry.key, entry.value, Setting{})
		case "contexts":
			err = f.readContexts(entry.value)
		default:
			err = f.fail(entry.key, entry.at, "unknown key (known: contexts, current-context)")
		}
		if err != nil {
			return err
		}
	}
	if f.current != "" {
		if _, ok := f.context(f.current); !ok {
			return f.fail("current-context", nil, "there is no context %q%s", f.current, f.known())
		}
	}
	return nil
}

func (f *file) readContexts(node *yaml.Node) error {
	if node.ShortTag() == "!!null" {
		return nil
	}
	if node.Kind != yaml.SequenceNode {
		return f.fail("contexts", node, "is %s and has to be a list, of entries that start with - name: NAME", kindOf(node))
	}
	for i, item := range node.Content {
		context, err := f.readContext(i+1, resolve(item))
		if err != nil {
			return err
		}
		if _, ok := f.context(context.name); ok {
			return f.fail("contexts", item, "the name %q is given to two contexts", context.name)
		}
		f.contexts = append(f.contexts, context)
	}
	return nil
}

func (f *file) readContext(number int, node *yaml.Node) (fileContext, error) {
	context := fileContext{values: map[string]string{}}
	keys, err := f.mapping("contexts", node)
	if err != nil {
		return context, err
	}
	for _, entry := range keys {
		if entry.key == "name" {
			context.name = entry.value.Value
		}
	}
	if context.name == "" || strings.ContainsFunc(context.name, unicode.IsControl) {
		return context, f.fail("contexts", node, "entry %d has no name", number)
	}
	for _, entry := range keys {
		key := "contexts[" + context.name + "]." + entry.key
		setting, ok := lookup(entry.key, inContext)
		switch {
		case entry.key == "name":
			_, err = f.scalar(key, entry.value, Setting{})
		case entry.key == "password":
			err = f.fail(key, entry.at, "a password does not stand in the config file; name a file that holds it with password-file, or a command with password-command")
		case !ok:
			err = f.fail(key, entry.at, "unknown key (known: name, %s)", strings.Join(namesIn(inContext), ", "))
		default:
			context.values[entry.key], err = f.value(key, entry.value, setting)
		}
		if err != nil {
			return context, err
		}
	}
	return context, nil
}

// context returns the context of a name, whose case counts.
func (f *file) context(name string) (fileContext, bool) {
	for _, c := range f.contexts {
		if c.name == name {
			return c, true
		}
	}
	return fileContext{}, false
}

// known lists the contexts for a message.
func (f *file) known() string {
	if len(f.contexts) == 0 {
		return " (" + f.path + " has none)"
	}
	var names []string
	for _, c := range f.contexts {
		names = append(names, c.name)
	}
	return " (known: " + strings.Join(names, ", ") + ")"
}
