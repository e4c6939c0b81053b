package stats

import (
	"context"
	"errors"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// Warm is what a look found in the warm store. It takes a few hundred bytes a
// segment while it lasts.
type Warm struct {
	Segments int64
	Payloads Distribution // bytes of the chunks' payloads
	Largest  []Sized[ChunkName]
	Added    uint64 // ids that the deltas add
	Removed  uint64 // ids that they remove
	Other    int64  // chunks whose payload is no delta of the known version: bytes of another kind
	Damaged  int64
}

// ChunkName names a chunk.
type ChunkName struct {
	Segment warm.Segment
	Number  uint16
}

func lookAtChunks(ctx context.Context, store *warm.Store, o Options) (*Warm, error) {
	c := chunkCounter{options: &o, payloads: newSpread(sizeBounds()...), largest: largest[ChunkName]{limit: o.Top}}
	for info, err := range store.Segments(ctx, nil) {
		if err == nil {
			c.found.Segments++
			err = c.segment(ctx, store, info.Segment)
		}
		if err := o.damaged(err, &c.found.Damaged); err != nil {
			return nil, err
		}
	}
	if o.Found && c.found.Segments+c.found.Damaged == 0 {
		return nil, nil
	}
	c.found.Payloads, c.found.Largest = c.payloads.done(), c.largest.list
	return &c.found, nil
}

// chunkCounter counts the chunks of segments.
type chunkCounter struct {
	options  *Options
	found    Warm
	payloads *spread
	largest  largest[ChunkName]
}

func (c *chunkCounter) segment(ctx context.Context, store *warm.Store, segment warm.Segment) error {
	for chunk, err := range store.List(ctx, segment, warm.ListOptions{Payload: true}) {
		if err == nil {
			err = c.add(chunk)
		}
		if err := c.options.damaged(err, &c.found.Damaged); err != nil {
			return err
		}
		c.options.looked()
	}
	return nil
}

// add counts a chunk. The error is that of a payload which is no sound delta.
func (c *chunkCounter) add(chunk warm.Chunk) error {
	c.payloads.add(chunk.Size)
	c.largest.add(ChunkName{chunk.Segment, chunk.Number}, chunk.Size)
	delta, err := warm.DecodeDelta(chunk.Payload)
	switch {
	case errors.Is(err, warm.ErrUnsupported):
		c.found.Other++
		return nil
	case err != nil:
		return storeerr.New(storeerr.Integrity, "chunk %d of segment %q: %w", chunk.Number, chunk.Segment, err)
	}
	c.found.Added += delta.Adds.GetCardinality()
	c.found.Removed += delta.Removes.GetCardinality()
	return nil
}
