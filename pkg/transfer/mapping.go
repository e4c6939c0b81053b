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
	best := -1
	for i, m := range mappings {
		if strings.HasPrefix(key, m.Old) && (best < 0 || len(m.Old) > len(mappings[best].Old)) {
			best = i
		}
	}
	if best < 0 {
		return key
	}
	return mappings[best].New + key[len(mappings[best].Old):]
}

// renamed returns what a mapping gives a whole name.
func renamed(name string, mappings []Mapping) string {
	for _, m := range mappings {
		if name == m.Old {
			return m.New
		}
	}
	return name
}
