package stats

import (
	"context"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
)

// Blob is what a look found in the blob store. While the server makes its
// table of keys larger or smaller, a blob may be counted twice.
type Blob struct {
	Sizes    Distribution // bytes of the payloads
	Largest  []Sized[string]
	Expiries Expiries
	Damaged  int64
}

func lookAtBlobs(ctx context.Context, store *blob.Store, o Options) (*Blob, error) {
	s := Blob{Expiries: newExpiries()}
	sizes, top := newSpread(sizeBounds()...), largest[string]{limit: o.Top}
	for info, err := range store.Walk(ctx, o.Prefix) {
		if err != nil {
			if err := o.damaged(err, &s.Damaged); err != nil {
				return nil, err
			}
		} else {
			sizes.add(info.Size)
			top.add(info.Reference, info.Size)
			s.Expiries.add(info.ExpiresAt, info.Now)
		}
		o.looked()
	}
	if o.Found && sizes.Count+s.Damaged == 0 {
		return nil, nil
	}
	s.Sizes, s.Largest = sizes.done(), top.list
	return &s, nil
}
