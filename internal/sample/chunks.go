// The warm store: bitmap deltas in two namespaces, the absent one and eu.

package sample

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

func fillChunks(ctx context.Context, store *warm.Store) error {
	for _, c := range []struct {
		segment       warm.Segment
		chunk         uint16
		adds, removes *roaring.Bitmap
	}{
		{warm.Segment{Name: "users"}, 0, span(1, 5000), roaring.BitmapOf(17, 4711)},
		{warm.Segment{Name: "users"}, 1, roaring.BitmapOf(0, 1, 2, 65535), roaring.New()},
		{warm.Segment{Name: "users"}, 12, roaring.New(), span(100, 200)},
		{warm.Segment{Namespace: "eu", Name: "online"}, 0, roaring.BitmapOf(3, 5, 8, 13, 21), roaring.BitmapOf(1, 2)},
	} {
		payload, err := delta(c.adds, c.removes)
		if err != nil {
			return err
		}
		if _, err := store.Create(ctx, c.segment, c.chunk, payload); err != nil {
			return err
		}
	}
	return nil
}

// span holds the values from first up to, but not, end.
func span(first, end uint64) *roaring.Bitmap {
	b := roaring.New()
	b.AddRange(first, end)
	b.RunOptimize()
	return b
}

// delta encodes a payload: what it adds, with its length, and what it removes.
func delta(adds, removes *roaring.Bitmap) ([]byte, error) {
	// The values that a range adds may be among those removed; a delta keeps
	// the two apart.
	adds.AndNot(removes)
	added, err := adds.ToBytes()
	if err != nil {
		return nil, fmt.Errorf("encoding a delta: %w", err)
	}
	removed, err := removes.ToBytes()
	if err != nil {
		return nil, fmt.Errorf("encoding a delta: %w", err)
	}
	payload := binary.LittleEndian.AppendUint32([]byte{1}, uint32(len(added)))
	return append(append(payload, added...), removed...), nil
}
