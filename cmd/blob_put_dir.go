// Storing the files of a directory: blob put --dir.

package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/keyspacectl/keyspacectl/internal/blobdir"
	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
)

func (o *blobPutOptions) runDir(ctx context.Context, f *Factory) error {
	out, err := f.printer(blobWrittenFields())
	if err != nil {
		return err
	}
	files, err := blobdir.List(o.dir)
	if err != nil {
		return err
	}
	store, err := f.blobs(writes)
	if err != nil {
		return err
	}
	progress := f.progress("blobs")
	defer progress.Stop()
	for i, file := range files {
		if err := o.putFile(ctx, store, file, out); err != nil {
			err = stopped(out, fmt.Errorf("%s: %w", file.Path, err))
			return partial(err, i > 0 && !o.dryRun, "stored %s of %d; the same command goes on", count(i, "blob"), len(files))
		}
		progress.Add(1)
	}
	progress.Stop()
	return out.End()
}

func (o *blobPutOptions) putFile(ctx context.Context, store *blob.Store, file blobdir.File, out *render.Printer) error {
	payload, err := os.ReadFile(file.Path)
	if err != nil {
		return errors.Unwrap(err) // the path is told already
	}
	put := store.Put
	if o.dryRun {
		put = store.PreviewPut
	}
	result, err := put(ctx, file.Reference, payload, time.Duration(o.retention).Milliseconds())
	if err != nil {
		return err
	}
	out.SetNow(result.Now)
	size := int64(len(payload))
	return out.Row(blobWrittenRecord{Result: result, reference: file.Reference, size: &size, dryRun: o.dryRun})
}
