package warm

// Finding the segments of a prefix by SCAN.

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/servers"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

const (
	scanCount  = 1000 // keys that one SCAN looks at
	countBatch = 500  // indexes counted in one round trip
)

// SegmentInfo is a segment and how many members its index has.
type SegmentInfo struct {
	Segment
	Chunks int64
}

// Segments yields every segment that has an index, sorted by namespace and
// name: those of one namespace, where the empty one is the absent, or of all
// when namespace is nil. The whole keyspace is looked through first.
//
// An index that is no sorted set is yielded as storeerr.Integrity with its
// Segment, and the listing goes on. Any other error is the last thing yielded.
func (s *Store) Segments(ctx context.Context, namespace *string) iter.Seq2[SegmentInfo, error] {
	return func(yield func(SegmentInfo, error) bool) {
		if namespace != nil && *namespace != "" && !isName(*namespace) {
			yield(SegmentInfo{}, invalidName("namespace", *namespace))
			return
		}
		segments, err := s.findSegments(ctx, namespace)
		if err != nil {
			yield(SegmentInfo{}, storeerr.FromRedis(err, storeerr.Reads, "looking for segments"))
			return
		}
		for batch := range slices.Chunk(segments, countBatch) {
			if !s.count(ctx, batch, yield) {
				return
			}
		}
	}
}

// findSegments looks through every server that holds keys of its own.
func (s *Store) findSegments(ctx context.Context, namespace *string) ([]Segment, error) {
	within := "*"
	if namespace != nil {
		within = cmp.Or(*namespace, defaultNamespace)
	}
	pattern := "{" + servers.Pattern(s.prefix) + "|" + within + "|*}" + indexSuffix
	var mu sync.Mutex
	found := map[Segment]struct{}{}
	scan := func(ctx context.Context, node redis.Cmdable) error {
		keys := node.Scan(ctx, 0, pattern, scanCount).Iterator()
		for keys.Next(ctx) {
			if seg, ok := s.parseIndexKey(keys.Val()); ok {
				mu.Lock()
				found[seg] = struct{}{}
				mu.Unlock()
			}
		}
		return keys.Err()
	}
	err := servers.Each(ctx, s.rdb, scan)
	segments := make([]Segment, 0, len(found))
	for seg := range found {
		segments = append(segments, seg)
	}
	slices.SortFunc(segments, func(a, b Segment) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return segments, err
}

// count yields segments with the sizes of their indexes, and tells whether to
// go on.
func (s *Store) count(ctx context.Context, segments []Segment, yield func(SegmentInfo, error) bool) bool {
	sizes := make([]*redis.IntCmd, len(segments))
	// Each command keeps its own error, so that of the pipeline adds nothing.
	_, _ = s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, seg := range segments {
			sizes[i] = p.ZCard(ctx, s.IndexKey(seg))
		}
		return nil
	})
	for i, seg := range segments {
		size, err := sizes[i].Result()
		switch {
		case redis.HasErrorPrefix(err, "WRONGTYPE"):
			err = storeerr.New(storeerr.Integrity, "the index of segment %q is no sorted set", seg).AtKey(s.IndexKey(seg))
		case err != nil:
			err = storeerr.FromRedis(err, storeerr.Reads, "looking for segments")
		case size == 0:
			continue // its last chunk was deleted meanwhile
		}
		if !yield(SegmentInfo{Segment: seg, Chunks: size}, err) || err != nil && !errors.Is(err, storeerr.Integrity) {
			return false
		}
	}
	return true
}
