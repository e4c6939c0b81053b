// Mappings that give two records one place. Without a mapping no two records
// of an export have the same.

package transfer

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/keyspacectl/keyspacectl/pkg/archive"
)

// places remembers where records went: by a hash, and which mapping led there,
// so that some ten bytes do for each. What no other mapping can lead to is not
// remembered.
type places struct {
	seed  maphash.Seed
	taken map[uint64]int16
}

// placed returns an error where a record, which was named old, is mapped to
// the place of one before it.
func (im *importer) placed(r *archive.Record, old string) error {
	p := pathTo{"key", r.Key, im.o.Map, mappingOf, strings.CutPrefix}
	switch r.Kind {
	case archive.Blob:
		p.what = "blob"
	case archive.Chunk:
		p = pathTo{"segment", r.Segment, im.o.Segments, renamingOf, cutWhole}
	}
	if r.History || !p.forks(old) {
		return nil
	}
	if im.places.taken == nil {
		im.places = places{maphash.MakeSeed(), map[uint64]int16{}}
	}
	sum := maphash.String(im.places.seed, fmt.Sprintf("%s\x00%s\x00%d\x00%s", r.Kind, r.Namespace, r.Chunk, p.name))
	before, taken := im.places.taken[sum]
	if !taken {
		im.places.taken[sum] = int16(p.of(old, p.mappings))
		return nil
	}
	other, _ := p.from(int(before))
	return fmt.Errorf("%s %q becomes %q, as does %q before it", p.what, old, p.name, other)
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

// forks tells whether mappings make the name of something else than old, too.
func (p *pathTo) forks(old string) bool {
	if len(p.mappings) == 0 {
		return false
	}
	for mapping := -1; mapping < len(p.mappings); mapping++ {
		if other, ok := p.from(mapping); ok && other != old {
			return true
		}
	}
	return false
}
