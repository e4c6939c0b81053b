// What diff compares: the stores of a side, or an archive.

package cmd

import (
	"context"
	"io"
	"os"
	"reflect"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/duration"
	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/transfer"
)

const (
	leftSide  = "left"
	rightSide = "right"
)

// diffSides are the sides of a diff and what of them is compared.
type diffSides struct {
	what        selection
	part        archive.Options
	left, right *end
	files       [2]string // archives in the place of sides, or empty
	live        bool
	maxAge      duration.Value
}

func (o *diffSides) register(c *cobra.Command, f *Factory) {
	f.registerSides(c, leftSide, rightSide)
	for i, side := range []string{leftSide, rightSide} {
		c.Flags().StringVar(&o.files[i], side+"-file", "", "the "+side+" side is the archive in this `FILE`; - is the standard input")
		for _, other := range []string{"-context", "-url", "-prefix"} {
			c.MarkFlagsMutuallyExclusive(side+"-file", side+other)
		}
	}
	o.what.register(c)
	c.Flags().BoolVar(&o.live, "live", false, "open no snapshots; read each row when it is reached")
	c.Flags().Var(&o.maxAge, "snapshot-max-age", "give up when a snapshot has been open for this `DURATION`")
	c.MarkFlagsMutuallyExclusive("live", "snapshot-max-age")
}

func (o *diffSides) check(c *cobra.Command, f *Factory) (err error) {
	if o.left, o.right, err = f.ends(c, leftSide, rightSide); err != nil {
		return err
	}
	switch {
	case o.files[0] == "" && o.files[1] == "":
		err = o.left.check(o.right)
	case o.files[0] == o.files[1]:
		err = storeerr.New(storeerr.Invalid, "both sides are the same: the archive %q", o.files[0])
	}
	if err != nil {
		return err
	}
	return o.what.apply(c, f, &o.part)
}

// open returns the two sides. Where nothing is selected, an archive tells what
// to compare.
func (o *diffSides) open(ctx context.Context, f *Factory) (left, right transfer.Source, err error) {
	var archives [2]*archive.Reader
	whole := len(o.what.stores) == 0
	for i, file := range o.files {
		if file == "" {
			continue
		}
		if archives[i], err = f.openArchive(file); err != nil {
			return left, right, err
		}
		has := transfer.SelectionOf(archives[i].Header())
		if first := i == 0 || o.files[0] == ""; whole && first {
			o.what.stores, o.part = has.Stores, has.Part
		} else if whole && !reflect.DeepEqual(has, o.selection()) {
			return left, right, storeerr.New(storeerr.Invalid, "the archives are not of the same stores or parts of them").
				WithHint("name with --store, --match, --segment and --namespace what is to be compared")
		}
	}
	var sides [2]transfer.Side
	switch {
	case archives[0] == nil && archives[1] == nil:
		sides[0], sides[1], err = o.left.open(ctx, reads, o.right, reads, o.what.stores)
		o.what.stores = sides[0].Stores()
	case archives[0] == nil:
		sides[0], err = o.left.side(reads, o.what.stores)
	case archives[1] == nil:
		sides[1], err = o.right.side(reads, o.what.stores)
	}
	if err != nil {
		return left, right, err
	}
	if left, err = o.source(ctx, sides[0], archives[0]); err != nil {
		return left, right, err
	}
	right, err = o.source(ctx, sides[1], archives[1])
	return left, right, err
}

func (o *diffSides) selection() transfer.Selection {
	return transfer.Selection{Stores: o.what.stores, Part: o.part}
}

func (o *diffSides) source(ctx context.Context, side transfer.Side, r *archive.Reader) (transfer.Source, error) {
	if r != nil {
		return transfer.FromArchive(r, o.selection())
	}
	export := transfer.ExportOptions{Options: o.part, MaxAge: time.Duration(o.maxAge)}
	export.Live = o.live
	return transfer.FromStores(ctx, side, export), nil
}

// openArchive begins to read the archive in a file, or on the standard input.
func (f *Factory) openArchive(path string) (*archive.Reader, error) {
	var from io.Reader = f.In
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, storeerr.New(storeerr.Invalid, "opening the archive: %w", err)
		}
		f.closers = append(f.closers, file.Close)
		from = file
	}
	plain, err := archive.Decompress(from)
	if err != nil {
		return nil, err
	}
	f.closers = append(f.closers, plain.Close)
	return archive.NewReader(plain)
}
