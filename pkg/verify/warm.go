// The warm store: its keys are looked for first, then each segment is held
// against the contract, its index and its chunks.

package verify

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/servers"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// Warm yields what is wrong in every segment of a warm store: by segment and,
// within one, by chunk; foreign keys under its name come before. The last
// thing yielded may be an error, one of storeerr's kinds.
//
// Whatever it says of a chunk and of its entry in the index was so at one
// moment. It remembers some 250 bytes a segment and a bit or two a chunk, and
// holds at most 6 MiB of payloads.
func Warm(ctx context.Context, rdb redis.UniversalClient, prefix string, o Options) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		w := &warmChecks{report: report{yield: yield, options: o}, rdb: rdb, prefix: prefix}
		var err error
		if w.store, err = warm.New(rdb, prefix); err == nil {
			err = w.run(ctx)
		}
		w.end(err, "verifying the warm store")
	}
}

// warmChecks are the checks of one warm store.
type warmChecks struct {
	report
	rdb    redis.UniversalClient
	prefix string
	store  *warm.Store
}

func (w *warmChecks) run(ctx context.Context) error {
	segments, err := w.discover(ctx)
	if err != nil {
		return err
	}
	byName := func(a, b warm.Segment) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	}
	for _, seg := range slices.SortedFunc(maps.Keys(segments), byName) {
		if err := w.segment(ctx, seg, segments[seg]); err != nil {
			return err
		}
		delete(segments, seg)
	}
	return nil
}

// discover looks for every key of the store and returns the chunks that there
// are, by segment. What is under its name and no key of it is a finding.
func (w *warmChecks) discover(ctx context.Context) (map[warm.Segment]*roaring.Bitmap, error) {
	segments := map[warm.Segment]*roaring.Bitmap{}
	err := servers.Keys(ctx, w.rdb, "{"+w.prefix+"|", func(ctx context.Context, keys []string) error {
		for _, key := range keys {
			name := keyspace.Identify(key)
			seg := segmentOf(name)
			if name.Role != keyspace.Chunk && name.Role != keyspace.SegmentIndex {
				if err := w.unknownKey(ctx, key); err != nil {
					return err
				}
				continue
			}
			if segments[seg] == nil {
				segments[warm.Segment{Namespace: strings.Clone(seg.Namespace), Name: strings.Clone(seg.Name)}] = roaring.New()
			}
			if name.Role == keyspace.Chunk {
				segments[seg].Add(uint32(name.Chunk))
			}
		}
		return nil
	})
	return segments, err
}

// segmentOf returns the segment that the name of a key names, empty if none.
func segmentOf(name keyspace.Name) warm.Segment {
	seg := warm.Segment{Name: name.Segment}
	if name.Namespace != nil {
		seg.Namespace = *name.Namespace
	}
	return seg
}

// unknownKey reports a key that the store would not name so, if it still is
// there.
func (w *warmChecks) unknownKey(ctx context.Context, key string) error {
	kind, err := w.rdb.Type(ctx, key).Result()
	if err != nil || kind == "none" {
		return err
	}
	return w.found(WarmUnknownKey.finding(w.prefix, key, "{prefix|namespace|segment}c:<0 to 65535> or …idx", "a "+kind))
}

// batchChunks is how many chunks are asked for at once.
const batchChunks = 500

// segment checks the index of a segment, then each chunk that is in the index
// or among those known.
func (w *warmChecks) segment(ctx context.Context, seg warm.Segment, known *roaring.Bitmap) error {
	index, _, err := w.facts(ctx, seg, nil)
	if err != nil {
		return err
	}
	// An index that is mended is made again from what is looked at next.
	if err := cmp.Or(w.found(w.judgeIndex(seg, index)...), w.walked()); err != nil {
		return err
	}
	if err := cmp.Or(w.members(ctx, seg, known), w.walked()); err != nil {
		return err
	}
	var numbers [batchChunks]uint32
	for all := known.ManyIterator(); ; {
		n := all.NextMany(numbers[:])
		if n == 0 {
			return nil
		}
		if err := cmp.Or(w.chunks(ctx, seg, numbers[:n]), w.walked()); err != nil {
			return err
		}
	}
}

// chunks checks some chunks of a segment.
func (w *warmChecks) chunks(ctx context.Context, seg warm.Segment, numbers []uint32) error {
	for len(numbers) > 0 {
		members := make([]string, len(numbers))
		for i, n := range numbers {
			members[i] = strconv.Itoa(int(n))
		}
		index, all, err := w.facts(ctx, seg, members)
		if err != nil {
			return err
		}
		for i, f := range all {
			if err := w.found(w.judgeChunk(seg, uint16(numbers[i]), index, f)...); err != nil {
				return err
			}
		}
		w.looked(len(all))
		numbers = numbers[len(all):]
	}
	return nil
}

// members walks the index of a segment. Numbers join those known; what is no
// number of a chunk is a finding.
func (w *warmChecks) members(ctx context.Context, seg warm.Segment, known *roaring.Bitmap) error {
	for cursor := uint64(0); ; {
		page, next, err := w.rdb.ZScan(ctx, w.store.IndexKey(seg), cursor, "", batchChunks).Result()
		if redis.HasErrorPrefix(err, "WRONGTYPE") {
			return nil // reported, or a race
		}
		if err != nil {
			return err
		}
		for i := 0; i < len(page); i += 2 {
			member := page[i]
			if n, err := warm.ParseChunk(member); err == nil {
				known.Add(uint32(n))
				continue
			}
			if err := w.strangeMember(ctx, seg, member); err != nil {
				return err
			}
		}
		if next == 0 {
			return nil
		}
		cursor = next
	}
}

// strangeMember reports a member that is no number of a chunk, if it still is
// there.
func (w *warmChecks) strangeMember(ctx context.Context, seg warm.Segment, member string) error {
	_, all, err := w.facts(ctx, seg, []string{member})
	if err != nil || all[0].score == "" {
		return err
	}
	return w.found(w.judgeMember(seg, member, all[0]))
}
