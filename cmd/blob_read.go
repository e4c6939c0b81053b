package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
)

type blobReadOptions struct {
	reference string // or, with all, what references begin with
	all       bool
	dir       string
	out       string
	force     bool
}

func newBlobReadCmd(f *Factory) *cobra.Command {
	var o blobReadOptions
	c := &cobra.Command{
		Use:     "read REFERENCE | read --all --dir DIRECTORY [PREFIX]",
		Aliases: []string{"get"},
		Short:   "Read a blob",
		Long: `Read a blob: off a terminal exactly its bytes, on one a table with a preview.

With --out the output goes to a file, which is there whole or not at all: a
missing blob leaves none.

--all reads every blob, or those whose references begin with PREFIX, into files
of the directory --dir, which is to be empty or not there. The references, in an
encoded form, are the names; blob put --dir takes them back.`,
		Example: `  keyspacectl blob read chunk/1 --out copy.bin
  keyspacectl blob read chunk/1 > copy.bin
  keyspacectl blob read --all --dir blobs relocation/
  keyspacectl blob read chunk/1 -o json | jq -r .expires_at`,
		Args: argsUnless(&o.dir, cobra.ExactArgs(1), cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if o.dir != "" {
				if len(args) > 0 {
					if o.reference, err = f.key(args[0]); err != nil {
						return err
					}
				}
				return o.runDir(c.Context(), f)
			}
			if o.reference, err = f.reference(args[0]); err != nil {
				return err
			}
			return o.run(c.Context(), f)
		},
	}
	c.Flags().StringVar(&o.out, "out", "", "write to this `FILE`; - is the standard output")
	c.Flags().BoolVar(&o.all, "all", false, "read every blob, into the files of --dir")
	c.Flags().StringVar(&o.dir, "dir", "", "write the blobs into this `DIRECTORY`")
	c.MarkFlagsRequiredTogether("all", "dir")
	c.MarkFlagsMutuallyExclusive("all", "out")
	c.Flags().BoolVar(&o.force, "force", false, "overwrite a file that exists; print binary to a terminal")
	return c
}

func (o *blobReadOptions) run(ctx context.Context, f *Factory) error {
	file, err := f.redirect(o.out, o.force)
	if err != nil {
		return err
	}
	defer file.Discard()
	out, err := f.printer(blobFields())
	if err != nil {
		return err
	}
	progress := f.carrying()
	defer progress.Stop()
	store, err := f.blobs(reads)
	if err != nil {
		return err
	}
	b, err := store.Read(ctx, o.reference)
	progress.Stop()
	if err != nil {
		return err
	}
	format, err := o.format(f)
	if err != nil {
		return err
	}
	if format == render.Raw {
		err = o.raw(f, b.Payload)
	} else {
		out.SetNow(b.Now)
		err = out.One(blobRecord(b))
	}
	if err != nil {
		return err
	}
	return file.Commit()
}

// format is that of the settings; but a file gets the bytes, unless --output
// itself asks for something else.
func (o *blobReadOptions) format(f *Factory) (render.Format, error) {
	if o.out != "" && o.out != "-" && f.settings.Source("output") != "--output" {
		return render.Raw, nil
	}
	return f.format(true)
}

// raw writes the payload past the printer, which would copy it.
func (o *blobReadOptions) raw(f *Factory, payload []byte) error {
	if f.outTerminal() {
		if err := f.checkRaw(string(payload), o.force); err != nil {
			return err
		}
	}
	if _, err := f.Out.Write(payload); err != nil {
		return fmt.Errorf("writing output: %w", err)
	}
	return nil
}
