// From YAML nodes to the texts of settings, with the types checked.

package config

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// entry is a key of a mapping with its value.
type entry struct {
	key   string
	at    *yaml.Node // the key itself
	value *yaml.Node
}

// mapping returns the entries of a mapping, whose keys are texts and differ.
func (f *file) mapping(where string, node *yaml.Node) ([]entry, error) {
	if node.Kind != yaml.MappingNode {
		return nil, f.fail(where, node, "is %s and has to be keys with values", kindOf(node))
	}
	var entries []entry
	seen := map[string]bool{}
	for i := 0; i < len(node.Content); i += 2 {
		key := node.Content[i]
		if key.Kind != yaml.ScalarNode {
			return nil, f.fail(where, key, "a key has to be a text")
		}
		if seen[key.Value] {
			return nil, f.fail(where, key, "the key %q is given twice", key.Value)
		}
		seen[key.Value] = true
		entries = append(entries, entry{key.Value, key, resolve(node.Content[i+1])})
	}
	return entries, nil
}

// value returns a setting's value as a flag would have it, checked.
func (f *file) value(key string, node *yaml.Node, s Setting) (string, error) {
	if s.kind != list || node.Kind != yaml.SequenceNode {
		return f.scalar(key, node, s)
	}
	var items []string
	for _, item := range node.Content {
		text, err := f.scalar(key, resolve(item), s)
		if err != nil {
			return "", err
		}
		items = append(items, text)
	}
	if len(items) == 0 {
		return "", f.fail(key, node, "is an empty list")
	}
	return strings.Join(items, ","), nil
}

// scalar returns the text of a value of the right type, checked.
func (f *file) scalar(key string, node *yaml.Node, s Setting) (string, error) {
	want, accepted := "a text", []string{"!!str"}
	switch s.kind {
	case boolean:
		want, accepted = "true or false", []string{"!!bool"}
	case number:
		want, accepted = "a whole number", []string{"!!int"}
	case length:
		// A bare number is told that it lacks a unit.
		want, accepted = "a length of time, as 30s", []string{"!!str", "!!int", "!!float"}
	case list:
		want = "a text or a list of texts"
	}
	for _, tag := range accepted {
		if node.ShortTag() != tag {
			continue
		}
		if err := s.validate(node.Value); err != nil {
			return "", f.fail(key, node, "%w", err)
		}
		return node.Value, nil
	}
	hint := ""
	if node.Kind == yaml.ScalarNode && accepted[0] == "!!str" && node.Value != "" {
		hint = "; put it in quotes"
	}
	return "", f.fail(key, node, "is %s and has to be %s%s", kindOf(node), want, hint)
}

// resolve follows an alias.
func resolve(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// kindOf names what a node is, for messages.
func kindOf(node *yaml.Node) string {
	switch node.ShortTag() {
	case "!!null":
		return "empty"
	case "!!bool":
		return "true or false"
	case "!!int", "!!float":
		return "a number"
	case "!!str":
		return "a text"
	case "!!seq":
		return "a list"
	case "!!map":
		return "keys with values"
	default:
		return "of the type " + node.ShortTag()
	}
}
