package transfer

import (
	"strings"
)

// Mapping gives what begins with Old another beginning.
type Mapping struct {
	Old string
	New string
}

// mapped returns a key with the beginning that the longest mapping of it gives.
func mapped(key string, mappings []Mapping) string {
	if i := mappingOf(key, mappings); i >= 0 {
		return mappings[i].New + key[len(mappings[i].Old):]
	}
	return key
}

// mappingOf returns which mapping is that of a key, -1 for none.
func mappingOf(key string, mappings []Mapping) int {
	best := -1
	for i, m := range mappings {
		if strings.HasPrefix(key, m.Old) && (best < 0 || len(m.Old) > len(mappings[best].Old)) {
			best = i
		}
	}
	return best
}

// renamed returns what a mapping gives a whole name.
func renamed(name string, mappings []Mapping) string {
	if i := renamingOf(name, mappings); i >= 0 {
		return mappings[i].New
	}
	return name
}

// renamingOf returns which mapping is that of a whole name, -1 for none.
func renamingOf(name string, mappings []Mapping) int {
	for i, m := range mappings {
		if name == m.Old {
			return i
		}
	}
	return -1
}
