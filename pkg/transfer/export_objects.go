// Exporting blobs and chunks: each is read when it is reached.

package transfer

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

const (
	blobsAhead = 16      // blobs that are read or wait, at most
	bytesAhead = 8 << 20 // of payload in them, but always one blob
)

// found is a blob that was listed.
type found struct {
	reference string
	size      int64
	err       error // it is damaged
}

func (e *exporter) blobs(ctx context.Context) error {
	var all []found
	for info, err := range e.side.Blob.List(ctx, e.o.Match) {
		if err != nil && !errors.Is(err, storeerr.Integrity) {
			return err
		}
		all = append(all, found{info.Reference, info.Size, err})
	}
	e.expect(int64(len(all)))
	slices.SortFunc(all, func(a, b found) int { return strings.Compare(a.reference, b.reference) })
	type result struct {
		blob.Blob
		err error
	}
	read := func(ctx context.Context, f found) (r result) {
		if r.err = f.err; r.err == nil {
			r.Blob, r.err = e.side.Blob.Read(ctx, f.reference)
		}
		r.Reference = f.reference
		return r
	}
	weight := func(f found) int64 { return f.size }
	for r := range ahead(ctx, slices.Values(all), blobsAhead, bytesAhead, weight, read) {
		err := r.err
		switch {
		case errors.Is(err, storeerr.NotFound):
			err = nil // it has expired since, or was deleted
		case errors.Is(err, storeerr.Integrity):
			err = e.skip(archive.Record{Kind: archive.Blob, Key: r.Reference}, err)
		case err == nil:
			err = e.give(archive.Record{Kind: archive.Blob, Key: r.Reference, Value: r.Payload, ExpiresAt: r.ExpiresAt})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *exporter) chunks(ctx context.Context) error {
	for segment, err := range e.segments(ctx) {
		if err != nil {
			if errors.Is(err, storeerr.Integrity) {
				err = e.skip(chunkRecord(segment, warm.Chunk{}), err)
			}
			if err != nil {
				return err
			}
			continue
		}
		for chunk, err := range e.side.Warm.List(ctx, segment, warm.ListOptions{Payload: true}) {
			switch {
			case errors.Is(err, storeerr.Integrity):
				err = e.skip(chunkRecord(segment, warm.Chunk{Number: chunk.Number}), err)
			case err == nil:
				err = e.give(chunkRecord(segment, chunk))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func chunkRecord(s warm.Segment, c warm.Chunk) archive.Record {
	return archive.Record{
		Kind: archive.Chunk, Namespace: s.Namespace, Segment: s.Name,
		Chunk: c.Number, Token: c.Token, Value: c.Payload,
	}
}

// segments yields those that the options ask for. One that is named whole is
// not looked for.
func (e *exporter) segments(ctx context.Context) iter.Seq2[warm.Segment, error] {
	return func(yield func(warm.Segment, error) bool) {
		if e.o.Namespace != nil && e.o.Segment != "" {
			yield(warm.Segment{Namespace: *e.o.Namespace, Name: e.o.Segment}, nil)
			return
		}
		for info, err := range e.side.Warm.Segments(ctx, e.o.Namespace) {
			if e.o.Segment != "" && info.Name != e.o.Segment && (err == nil || errors.Is(err, storeerr.Integrity)) {
				continue
			}
			e.expect(info.Chunks)
			if !yield(info.Segment, err) {
				return
			}
		}
	}
}
