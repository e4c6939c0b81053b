// Where the two streams of a comparison come from.

package transfer

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Source is a side of a comparison.
type Source struct {
	Records iter.Seq2[archive.Record, error] // in the order of [Export]
	Now     func() int64                     // the time there, ms since the epoch; behind the first record
}

// Renamed is a source of which the keys and references that begin with keys.Old
// begin with keys.New, and the segment segments.Old is segments.New. Where the
// source has no others, the order of its records stays as it was.
func (s Source) Renamed(keys, segments Mapping) Source {
	byKey, bySegment := []Mapping{keys}, []Mapping{segments}
	return Source{Now: s.Now, Records: func(yield func(archive.Record, error) bool) {
		for r, err := range s.Records {
			switch r.Kind {
			case archive.Row, archive.Blob:
				r.Key = mapped(r.Key, byKey)
			case archive.Chunk:
				r.Segment = renamed(r.Segment, bySegment)
			}
			if !yield(r, err) {
				return
			}
		}
	}}
}

// Renamed is the part that has become of a source's: see [Source.Renamed].
func (s Selection) Renamed(keys, segments Mapping) Selection {
	s.Part.Match = mapped(s.Part.Match, []Mapping{keys})
	s.Part.Segment = renamed(s.Part.Segment, []Mapping{segments})
	return s
}

// Selection says which stores are meant, and which part of them.
type Selection struct {
	Stores []string // in the order of [Stores]
	Part   archive.Options
}

// SelectionOf is all that an archive has.
func SelectionOf(h archive.Header) Selection {
	return Selection{h.Stores, archive.Options{Match: h.Options.Match, Namespace: h.Options.Namespace, Segment: h.Options.Segment}}
}

// FromStores is what [Export] yields of a side.
func FromStores(ctx context.Context, side Side, o ExportOptions) Source {
	var moment int64
	var began time.Time
	o.Tombstones, o.History = false, false
	o.Began = func(h archive.Header) { moment, began = h.Moment, time.Now() }
	return Source{
		Records: Export(ctx, side, o),
		Now:     func() int64 { return moment + time.Since(began).Milliseconds() },
	}
}

// FromArchive is what an archive has of a selection. It is storeerr.Invalid
// where the archive was made of less. A record of a store that the header does
// not name is a bad line, and so is one that does not come behind the one
// before it.
func FromArchive(r *archive.Reader, what Selection) (Source, error) {
	h := r.Header()
	for _, store := range what.Stores {
		if !slices.Contains(h.Stores, store) {
			return Source{}, storeerr.New(storeerr.Invalid, "the archive does not have the %s store", store).
				WithHint("name with --store those that it has: %s", strings.Join(h.Stores, ", "))
		}
	}
	if !covers(h.Options, what.Part) {
		return Source{}, storeerr.New(storeerr.Invalid, "the archive has only a part of what is asked for").
			WithHint("name that part with --match, --segment and --namespace")
	}
	records := func(yield func(archive.Record, error) bool) {
		for record, err := range checked(r) {
			if err == nil && !what.has(&record) {
				continue
			}
			if !yield(record, err) {
				return
			}
		}
	}
	return Source{Records: records, Now: func() int64 { return h.Moment }}, nil
}

// covers tells whether an archive made with some options has all that others
// ask for.
func covers(has, asked archive.Options) bool {
	return strings.HasPrefix(asked.Match, has.Match) &&
		(has.Segment == "" || has.Segment == asked.Segment) &&
		(has.Namespace == nil || asked.Namespace != nil && *has.Namespace == *asked.Namespace)
}

func (s *Selection) has(r *archive.Record) bool {
	switch {
	case !slices.Contains(s.Stores, StoreOf(r.Kind)):
		return false
	case r.Kind != archive.Chunk:
		return strings.HasPrefix(r.Key, s.Part.Match)
	}
	return (s.Part.Segment == "" || r.Segment == s.Part.Segment) && (s.Part.Namespace == nil || r.Namespace == *s.Part.Namespace)
}

// StoreOf returns the name of the store that a kind of record is of.
func StoreOf(k archive.Kind) string { return Stores()[rank(k)] }

// Compare is [Diff] of two sources.
func Compare(ctx context.Context, left, right Source, o DiffOptions) iter.Seq2[Difference, error] {
	o.LeftNow, o.RightNow = left.Now, right.Now
	return Diff(ctx, left.Records, right.Records, o)
}
