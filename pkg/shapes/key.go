// Keys: the known ones are split at NUL, or begin with zlink:v11: and are
// split at colons.

package shapes

import (
	"net/url"
	"strings"
)

// KeyShape is what a logical key looks like.
type KeyShape struct {
	// Label is the known shape that the key has, such as "mesh node
	// descriptor"; empty where it has none.
	Label string
	// Segments are the parts that vary, named, of a known shape; of other keys
	// with NUL, all that stands between, without names; else none.
	Segments []Segment

	kind kind
}

// String is the shape in a line: "mesh node descriptor: mesh eu, rid 0a1b". It
// may hold any characters of the key.
func (s KeyShape) String() string {
	var parts []string
	for _, segment := range s.Segments {
		if segment.Name != "" {
			parts = append(parts, segment.Name+" "+segment.Value)
		}
	}
	if len(parts) == 0 {
		return s.Label
	}
	return s.Label + ": " + strings.Join(parts, ", ")
}

// olderPrefix begins the keys that are split at colons.
const olderPrefix = "zlink:v11:"

// DescribeKey says what a logical key looks like. Any bytes will do.
func DescribeKey(key string) KeyShape {
	if older, ok := strings.CutPrefix(key, olderPrefix); ok {
		return describeOlder(older)
	}
	segments := strings.Split(key, "\x00")
	if len(segments) == 1 {
		return KeyShape{}
	}
	head, rest := segments[0], segments[1:]
	if head == "authority" {
		head, rest = head+"\x00"+rest[0], rest[1:]
	}
	if k, ok := nulKind(head); ok && len(rest) == len(k.names) && !hasEmpty(rest) && (k.check == nil || k.check(rest)) {
		return k.shape(rest)
	}
	return KeyShape{Segments: named(nil, segments)}
}

// nulKind is the shape of keys that begin with a segment, or with two.
func nulKind(head string) (kind, bool) {
	ridLast := func(s []string) bool { return isHex(s[len(s)-1]) }
	switch head {
	case "mesh-node":
		return kind{"mesh node descriptor", JSON, []string{"mesh", "rid"}, ridLast}, true
	case "owner-lease":
		return kind{"owner lease", JSON, []string{"owner"}, nil}, true
	case "client-server":
		return kind{"client-server descriptor", JSON, []string{"channel", "rid"}, ridLast}, true
	case "fanout-publisher":
		return kind{"fan-out publisher", JSON, []string{"channel", "rid"}, ridLast}, true
	case "authority\x00actor":
		return kind{authorityOf + "an actor", JSON, []string{"actor"}, nil}, true
	case "authority\x00spot":
		return kind{authorityOf + "a spot", JSON, []string{"spot"}, nil}, true
	case "creation-terminal":
		return kind{"creation terminal", "", []string{"rid", "generation", "id"}, func(s []string) bool {
			return isHex(s[0]) && isDecimal(s[1]) && len(s[2]) == 32 && isHex(s[2])
		}}, true
	}
	return kind{}, false
}

const (
	authorityOf  = "authority of "
	counterLabel = "counter"
)

// describeOlder says what a key looks like that began with olderPrefix.
func describeOlder(rest string) KeyShape {
	switch rest {
	case "owner-counter", "object-counter", "authority-owner-counter":
		k := kind{label: counterLabel, form: Integer, names: []string{"of"}}
		return k.shape([]string{strings.TrimSuffix(rest, "-counter")})
	}
	head, rest, _ := strings.Cut(rest, ":")
	if k, ok := olderKind(head); ok {
		if segments := strings.SplitN(rest, ":", len(k.names)); len(segments) == len(k.names) && !hasEmpty(segments) {
			for i, s := range segments {
				segments[i] = unescaped(s)
			}
			return k.shape(segments)
		}
	}
	return KeyShape{Label: "key of the older form", Segments: []Segment{{Value: head}, {Value: rest}}}
}

func olderKind(head string) (kind, bool) {
	switch head {
	case "capacity":
		return kind{"capacity", JSON, []string{"mesh", "rid"}, nil}, true
	case "aggregate", "aggregate-participant", "aggregate-inventory":
		return kind{strings.ReplaceAll(head, "-", " "), JSON, []string{"id", "generation"}, nil}, true
	case "spot", "actor", "route":
		return kind{head + " claim", JSON, []string{head}, nil}, true
	}
	return kind{}, false
}

func (k kind) shape(segments []string) KeyShape {
	return KeyShape{Label: k.label, Segments: named(k.names, segments), kind: k}
}

func named(names, values []string) []Segment {
	segments := make([]Segment, len(values))
	for i, value := range values {
		segments[i].Value = value
		if i < len(names) {
			segments[i].Name = names[i]
		}
	}
	return segments
}

// unescaped is a segment without its percent-encoding, if it has one.
func unescaped(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

func hasEmpty(segments []string) bool {
	for _, s := range segments {
		if s == "" {
			return true
		}
	}
	return false
}

func isHex(s string) bool { return s != "" && strings.Trim(s, "0123456789abcdef") == "" }

// isDecimal tells whether s is an integer as a program writes one: no leading
// zero, no plus.
func isDecimal(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == "" && (digits[0] != '0' || s == "0")
}
