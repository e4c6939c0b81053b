// Reading all blobs into the files of a directory: blob read --all --dir.

package cmd

import (
	"context"
	"errors"

	"github.com/keyspacectl/keyspacectl/internal/blobdir"
	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func (o *blobReadOptions) runDir(ctx context.Context, f *Factory) (err error) {
	out, err := f.printer(render.Fields{Shown: []string{"reference", "size", "expires_at", "file"}})
	if err != nil {
		return err
	}
	dir, err := blobdir.NewWriter(o.dir, o.force)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	store, err := f.blobs(reads)
	if err != nil {
		return err
	}
	progress := f.progress("blobs")
	defer progress.Stop()
	damaged := damage{what: "blob"}
	blobs := 0
	for info, err := range store.List(ctx, o.reference) {
		if errors.Is(err, storeerr.Integrity) {
			damaged.add(f, err)
			continue
		}
		if err == nil {
			err = o.saveBlob(ctx, store, info.Reference, dir, out)
		}
		if errors.Is(err, storeerr.NotFound) {
			continue // it has gone meanwhile
		}
		if err != nil {
			return partial(stopped(out, err), blobs > 0, "read %s; begin again in another directory, or with --force", count(blobs, "blob"))
		}
		blobs++
		progress.Add(1)
	}
	progress.Stop()
	if err := out.End(); err != nil {
		return err
	}
	return damaged.err()
}

// saveBlob reads a blob into its file.
func (o *blobReadOptions) saveBlob(ctx context.Context, store *blob.Store, reference string, dir *blobdir.Writer, out *render.Printer) error {
	b, err := store.Read(ctx, reference)
	if err != nil {
		return err
	}
	file, err := dir.Write(reference, b.Payload)
	if err != nil {
		return err
	}
	out.SetNow(b.Now)
	return out.Row(savedBlobRecord{b.Info, file})
}

// savedBlobRecord is a blob, and the file that it was read into.
type savedBlobRecord struct {
	blob.Info
	file string
}

func (s savedBlobRecord) Record(r *render.Record) {
	blobInfoRecord(s.Info).Record(r)
	r.Text("file", s.file)
}
