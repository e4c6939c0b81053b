// YAML is made from JSON, so that both say the same. Values that are text keep
// their double quotes: readers of YAML 1.1 take a bare yes, 1:20 or 007 for
// something else.

package render

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/keyspacectl/keyspacectl/internal/keyformat"
)

// toYAML returns a JSON object or array as YAML in block form.
func toYAML(json []byte) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(json, &document); err != nil {
		return nil, err
	}
	block(document.Content[0])
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&document); err != nil {
		return nil, err
	}
	return escapeUnsafe(out.Bytes()), nil
}

// block gives mappings and sequences their block form, and names no quotes.
func block(node *yaml.Node) {
	if len(node.Content) > 0 {
		node.Style = 0
	}
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			child.Style = 0
		}
		block(child)
	}
}

// escapeUnsafe escapes what a terminal must not see and the encoder leaves. It
// can only be within double quotes.
func escapeUnsafe(yaml []byte) []byte {
	unsafe := func(r rune) bool { return r != '\n' && keyformat.Unsafe(r) }
	if bytes.IndexFunc(yaml, unsafe) < 0 {
		return yaml
	}
	var out bytes.Buffer
	for _, r := range string(yaml) {
		if unsafe(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.Bytes()
}
