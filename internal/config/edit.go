// Changing the config file: with the comments and the order that it has, if not
// its empty lines, and never to one that would not load.

package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/keyspacectl/keyspacectl/internal/outfile"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// set gives a setting of a context a value, and makes the file and the context
// if there are none. The value is written as on a command line. What the file
// would then hold is checked as Load does, and nothing is written where that
// fails, but a password file need not be there yet.
func (f *file) set(context, key, value string) error {
	setting, ok := lookup(key, inContext)
	where := fmt.Sprintf("contexts[%s].%s", context, key)
	if !ok && key != "password" {
		return f.fail(where, nil, "unknown key (known: %s)", strings.Join(namesIn(inContext), ", "))
	}
	if ok {
		if err := setting.validate(value); err != nil {
			return f.fail(where, nil, "%w", err)
		}
	}
	settings, err := f.contextNode(context)
	if err != nil {
		return err
	}
	if err := put(settings, key, setting.node(value)); err != nil {
		return f.fail(where, nil, "%w", err)
	}
	return f.save(context)
}

// unset takes a setting out of a context, with the comments on it. It is
// storeerr.NotFound when the context does not have it.
func (f *file) unset(context, key string) error {
	where := fmt.Sprintf("contexts[%s].%s", context, key)
	if _, ok := lookup(key, inContext); !ok {
		return f.fail(where, nil, "unknown key (known: %s)", strings.Join(namesIn(inContext), ", "))
	}
	chosen, ok := f.context(context)
	if context != "" && !ok {
		return storeerr.New(storeerr.NotFound, "there is no context %q%s", context, f.known())
	}
	settings, err := f.contextNode(context)
	if err != nil {
		return err
	}
	if _, has := chosen.values[key]; !has {
		return storeerr.New(storeerr.NotFound, "the context %q has no %s", context, key)
	}
	for i := 0; i+1 < len(settings.Content); i += 2 {
		if settings.Content[i].Value == key {
			settings.Content = slices.Delete(settings.Content, i, i+2)
			return f.save(context)
		}
	}
	return f.fail(where, nil, "stands elsewhere in the file; edit it by hand")
}

// use makes a context the current one. It is storeerr.Invalid when the file
// has none of that name.
func (f *file) use(context string) error {
	if _, ok := f.context(context); !ok {
		return f.fail("current-context", nil, "there is no context %q%s", context, f.known())
	}
	root, name := f.root(), scalarNode("!!str", context)
	if find(root, "current-context") == nil {
		root.Content = append([]*yaml.Node{scalarNode("!!str", "current-context"), name}, root.Content...)
	} else if err := put(root, "current-context", name); err != nil {
		return f.fail("current-context", nil, "%w", err)
	}
	return f.save("")
}

// root returns the mapping that the file is.
func (f *file) root() *yaml.Node {
	if f.document.Kind == 0 {
		f.document = yaml.Node{Kind: yaml.DocumentNode, HeadComment: f.comments, Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	root := f.document.Content[0]
	if root.Kind != yaml.MappingNode { // a lone null
		root.Kind, root.Tag, root.Value = yaml.MappingNode, "", ""
	}
	return root
}

// contextNode returns the mapping of a context, which is made where there is
// none.
func (f *file) contextNode(name string) (*yaml.Node, error) {
	if name == "" {
		return nil, storeerr.New(storeerr.Invalid, "no context is named").WithHint("add --context NAME, or choose one with config use")
	}
	root := f.root()
	list := find(root, "contexts")
	if list == nil || list.Kind != yaml.SequenceNode {
		list = &yaml.Node{Kind: yaml.SequenceNode}
		if err := put(root, "contexts", list); err != nil {
			return nil, err
		}
	}
	for _, item := range list.Content {
		context := resolve(item)
		if found := find(context, "name"); found != nil && found.Value == name {
			return context, nil
		}
	}
	context := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{scalarNode("!!str", "name"), scalarNode("!!str", name)}}
	list.Content = append(list.Content, context)
	return context, nil
}

// save checks what the file has become, and a context in it, and writes it.
func (f *file) save(context string) error {
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := errors.Join(encoder.Encode(&f.document), encoder.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", f.path, err)
	}
	after, err := parseFile(f.path, text.Bytes())
	if err != nil {
		return err
	}
	if context != "" {
		if err := after.check(context); err != nil {
			return err
		}
	}
	if info, err := os.Stat(f.path); err == nil && !info.Mode().IsRegular() {
		return storeerr.New(storeerr.Invalid, "%s is no file that could be changed", f.path).WithHint("name another one with --config")
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fmt.Errorf("writing %s: %w", f.path, err)
	}
	out, err := outfile.New(f.path, true)
	if err != nil {
		return err
	}
	defer out.Discard()
	out.Private()
	if _, err := out.Write(text.Bytes()); err != nil {
		return err
	}
	return out.Commit()
}

// check loads a context with nothing beside it.
func (f *file) check(context string) error {
	l := newLoader()
	l.file = f
	chosen, _ := f.context(context)
	l.context, l.given[contextLevel] = context, chosen.values
	if err := l.merge(nil); err != nil {
		return err
	}
	if _, err := l.settings(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// find returns the value of a key of a mapping, or nil.
func find(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return resolve(mapping.Content[i+1])
		}
	}
	return nil
}

// put gives a key of a mapping a value. The comments that stand beside the old
// one stay.
func put(mapping *yaml.Node, key string, value *yaml.Node) error {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value != key {
			continue
		}
		old := mapping.Content[i+1]
		if old.Anchor != "" {
			return fmt.Errorf("has the anchor &%s, which other keys may refer to; edit the file by hand", old.Anchor)
		}
		value.HeadComment, value.LineComment, value.FootComment = old.HeadComment, old.LineComment, old.FootComment
		mapping.Content[i+1] = value
		return nil
	}
	mapping.Content = append(mapping.Content, scalarNode("!!str", key), value)
	return nil
}

// node returns a valid value of the setting as the file has it.
func (s Setting) node(value string) *yaml.Node {
	switch s.kind {
	case boolean:
		yes, _ := strconv.ParseBool(value)
		return scalarNode("!!bool", strconv.FormatBool(yes))
	case number:
		n, _ := strconv.Atoi(value)
		return scalarNode("!!int", strconv.Itoa(n))
	case list:
		if items := splitList(value); len(items) > 1 {
			all := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
			for _, item := range items {
				all.Content = append(all.Content, scalarNode("!!str", item))
			}
			return all
		}
	}
	return scalarNode("!!str", value)
}

func scalarNode(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}
