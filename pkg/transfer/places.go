// Mappings that give two records one place. Without a mapping no two records
// of an export have the same.

package transfer

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/keyspacectl/keyspacectl/pkg/archive"
)

// placed returns an error where a record, which was named old, is mapped to
// the place of one before it. Records come in the order of their old names, so
// only those are remembered whose place a greater one may be mapped to.
func (im *importer) placed(r *archive.Record, old string) error {
	p := pathTo{"key", r.Key, im.o.Map, mappingOf, strings.CutPrefix}
	switch r.Kind {
	case archive.Blob:
		p.what = "blob"
	case archive.Chunk:
		p = pathTo{"segment", r.Segment, im.o.Segments, renamingOf, cutWhole}
	}
	if r.History || len(p.mappings) == 0 {
		return nil
	}
	remember := false
	for mapping := -1; mapping < len(p.mappings); mapping++ {
		switch other, ok := p.from(mapping); {
		case !ok || other == old:
		case other > old:
			remember = true
		case im.gone.has(named(r, other)):
			return fmt.Errorf("%s %q becomes %q, as does %q before it", p.what, old, p.name, other)
		}
	}
	if remember {
		im.gone.add(named(r, old))
	}
	return nil
}

// named is a record's ID by another name.
func named(r *archive.Record, name string) ID {
	id := IDOf(r)
	if r.Kind == archive.Chunk {
		id.Segment = name
	} else {
		id.Key = name
	}
	return id
}

// hashes remembers records by hashes of 64 bits: in some ten bytes each, where
// a map takes up to forty. That one of ten million records is taken for another
// one is as likely as one in 180,000.
type hashes struct {
	seed    maphash.Seed
	buckets [][]uint64 // by the first bits
}

const bucketBits = 12

// find returns a record's hash and where it belongs.
func (h *hashes) find(id ID) (hash uint64, bucket *[]uint64) {
	if h.buckets == nil {
		*h = hashes{maphash.MakeSeed(), make([][]uint64, 1<<bucketBits)}
	}
	hash = maphash.Comparable(h.seed, id)
	return hash, &h.buckets[hash>>(64-bucketBits)]
}

func (h *hashes) add(id ID) {
	hash, bucket := h.find(id)
	*bucket = append(*bucket, hash)
}

func (h *hashes) has(id ID) bool {
	hash, bucket := h.find(id)
	return slices.Contains(*bucket, hash)
}

// pathTo is how mappings lead to a name.
type pathTo struct {
	what     string // it is the name of
	name     string
	mappings []Mapping
	of       func(name string, mappings []Mapping) int
	cut      func(name, beginning string) (rest string, ok bool)
}

func cutWhole(name, whole string) (string, bool) { return "", name == whole }

// from returns what a mapping, or none for -1, makes the name of.
func (p *pathTo) from(mapping int) (old string, ok bool) {
	old = p.name
	if mapping >= 0 {
		m := p.mappings[mapping]
		rest, ok := p.cut(p.name, m.New)
		if !ok {
			return "", false
		}
		old = m.Old + rest
	}
	return old, p.of(old, p.mappings) == mapping
}
