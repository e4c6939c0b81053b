package cmd

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/duration"
	"github.com/keyspacectl/keyspacectl/internal/outfile"
	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/transfer"
)

type exportOptions struct {
	transfer.WriteOptions
	what  selection
	force bool
}

func newExportCmd(f *Factory) *cobra.Command {
	var o exportOptions
	maxAge := duration.Value(opaque.DefaultSnapshotMaxAge)
	c := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write the stores of a prefix to an archive",
		Long: `Write the stores of a prefix to an archive: all three that it can have, or those
named by --store. --match takes rows and blobs alone, --segment and --namespace
chunks alone, unless --store says otherwise.

FILE appears when it is whole, compressed if its name ends in .gz or .zst.
Without FILE, or with -, the archive goes to the standard output.

The rows are of one moment: the export keeps a snapshot open while it reads
them, which holds back collection for every application. --live opens none.
Blobs and chunks are each read when they are reached.

What is damaged is left out and told; the exit status is 7 then.`,
		Example: `  keyspacectl export backup.ndjson.zst
  keyspacectl export --store opaque --match sessions/ sessions.ndjson
  keyspacectl export --store warm --segment users - | jq -c .
  keyspacectl export --live --tombstones --history all.ndjson.gz`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] != "-" {
				o.Name = args[0]
			}
			o.MaxAge = time.Duration(maxAge)
			if err := o.what.apply(c, f, &o.Options); err != nil {
				return err
			}
			return o.run(c.Context(), f)
		},
	}
	o.what.register(c)
	c.Flags().BoolVar(&o.Live, "live", false, "open no snapshot; read each row when it is reached")
	c.Flags().Var(&maxAge, "snapshot-max-age", "give up when the snapshot has been open for this `DURATION`")
	c.Flags().BoolVar(&o.Tombstones, "tombstones", false, "take deleted rows too, as long as they are not collected")
	c.Flags().BoolVar(&o.History, "history", false, "take older versions too; they are for reading, import passes over them")
	c.Flags().BoolVar(&o.force, "force", false, "overwrite FILE if it exists")
	c.MarkFlagsMutuallyExclusive("live", "snapshot-max-age")
	return c
}

func (o *exportOptions) run(ctx context.Context, f *Factory) error {
	out, err := f.printer(exportedFields())
	if err != nil {
		return err
	}
	side, err := f.side(reads, o.what.stores)
	if err != nil {
		return err
	}
	var file *outfile.File
	var to io.Writer = f.Out
	switch {
	case o.Name != "":
		if file, err = outfile.New(o.Name, o.force); err != nil {
			return err
		}
		defer file.Discard()
		to = file
	case f.outTerminal():
		return storeerr.New(storeerr.Invalid, "an archive goes to a file or a pipe, not to a terminal").WithHint("name a file")
	}
	progress := f.progress("records")
	defer progress.Stop()
	damaged := damage{what: "record"}
	o.Skipped = func(err error) { damaged.add(f, err) }
	o.Progress = func(c archive.Counts) { progress.Set(c.Total()) }
	if progress != nil {
		o.Expect = progress.Expect
	}
	written, err := transfer.WriteArchive(ctx, to, side, o.WriteOptions)
	progress.Stop()
	if err != nil {
		return err
	}
	if err := file.Commit(); err != nil {
		return err
	}
	if file.Aside() {
		if err := out.One(exportedRecord{written, o.Name}); err != nil {
			return err
		}
	}
	return damaged.err()
}

func exportedFields() render.Fields {
	return render.Fields{
		Shown:  []string{"file", "rows", "blobs", "chunks", "damaged"},
		Hidden: []string{"tombstones", "history", "sha256"},
	}
}

// exportedRecord is what an archive holds.
type exportedRecord struct {
	archive.Trailer
	file string
}

func (e exportedRecord) Record(r *render.Record) {
	r.Bytes("file", e.file)
	r.Int("rows", e.Rows)
	r.Int("blobs", e.Blobs)
	r.Int("chunks", e.Chunks)
	r.Int("damaged", e.Damaged)
	r.Int("tombstones", e.Tombstones)
	r.Int("history", e.History)
	r.Text("sha256", e.SHA256)
}
