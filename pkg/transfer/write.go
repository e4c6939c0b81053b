package transfer

import (
	"context"
	"errors"
	"io"

	"github.com/keyspacectl/keyspacectl/pkg/archive"
)

// WriteOptions says what goes into an archive, and who is told.
type WriteOptions struct {
	ExportOptions
	Name     string               // of the file: its end chooses the compression
	Skipped  func(error)          // told of each record that is left out
	Progress func(archive.Counts) // told now and then
}

// progressEvery is the number of records between two calls of Progress.
const progressEvery = 256

// WriteArchive exports a side into an archive on w, and returns its trailer.
// Records that are damaged are left out; the trailer counts them. What was
// written before an error reads as cut off.
func WriteArchive(ctx context.Context, w io.Writer, side Side, o WriteOptions) (archive.Trailer, error) {
	packed, err := archive.Compress(w, o.Name)
	if err != nil {
		return archive.Trailer{}, err
	}
	var out *archive.Writer
	began := o.Began
	o.Began = func(h archive.Header) {
		out = archive.NewWriter(packed, h)
		if began != nil {
			began(h)
		}
	}
	var damaged int64
	for record, err := range Export(ctx, side, o.ExportOptions) {
		switch skipped, ok := errors.AsType[*SkippedError](err); {
		case ok:
			damaged++
			o.Skipped(skipped.Err)
			continue
		case err == nil:
			err = out.Write(&record)
		}
		if err != nil {
			return archive.Trailer{}, err
		}
		if counts := out.Counts(); o.Progress != nil && counts.Total()%progressEvery == 0 {
			o.Progress(counts)
		}
	}
	end, err := out.End(damaged)
	return end, errors.Join(err, packed.Close())
}
