// Chunks of the warm store.

package inspect

import (
	"context"
	"errors"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// readChunk reads a chunk, and its payload as a delta.
func (r *reader) readChunk(ctx context.Context) error {
	store, err := warm.New(r.rdb, r.Name.Prefix)
	if err != nil {
		return err
	}
	segment := warm.Segment{Name: r.Name.Segment}
	if r.Name.Namespace != nil {
		segment.Namespace = *r.Name.Namespace
	}
	chunk, err := store.Get(ctx, segment, r.Name.Chunk)
	switch {
	case errors.Is(err, storeerr.Integrity):
		r.damaged("%w", err)
		return r.readForeign(ctx)
	case err != nil:
		return err
	}
	r.Chunk = &chunk
	if extra := r.Size - 2; extra > 0 {
		r.damaged("%d of its fields belong to no chunk", extra)
	}
	delta, err := warm.DecodeDelta(chunk.Payload)
	if err != nil {
		r.damaged("its payload: %w", err)
		return nil
	}
	r.Delta = &delta
	return nil
}
