// What diff compares: the stores of a side, or an archive.

package cmd

import (
	"context"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/duration"
	"github.com/keyspacectl/keyspacectl/internal/keyformat"
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
	archives    [2]*archiveFile
	keys        renaming
	segments    renaming
	live        bool
	maxAge      duration.Value
}

// renaming is what names of the left side become, to be compared with those of
// the right one. Nothing is renamed where the text is empty.
type renaming struct {
	transfer.Mapping
	text string
}

func (r *renaming) parse(c *cobra.Command, flag, format string) error {
	if !c.Flags().Changed(flag) {
		return nil
	}
	maps, err := mappings("--"+flag, format, []string{r.text})
	if err != nil {
		return err
	}
	r.Mapping = maps[0]
	return nil
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
	c.Flags().StringVar(&o.keys.text, "map", "", "compare keys and references that begin with OLD on the left side with those that begin with NEW on the right one: `OLD=NEW`")
	c.Flags().StringVar(&o.segments.text, "map-segment", "", "compare the segment OLD of the left side with NEW of the right one: `OLD=NEW`")
	c.MarkFlagsMutuallyExclusive("segment", "map-segment")
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
	return o.narrow(c, f)
}

// narrow reads what is compared. A renaming narrows that like --match and
// --segment: to what is renamed.
func (o *diffSides) narrow(c *cobra.Command, f *Factory) error {
	s, err := f.Settings()
	if err != nil {
		return err
	}
	if err := o.keys.parse(c, "map", s.KeyFormat); err != nil {
		return err
	}
	if err := o.segments.parse(c, "map-segment", keyformat.Literal); err != nil {
		return err
	}
	if o.segments.text != "" && (o.segments.Old == "" || o.segments.New == "") {
		return storeerr.New(storeerr.Invalid, "--map-segment %q: a segment has a name", o.segments.text)
	}
	o.what.keys, o.what.chunks = o.keys.text != "", o.segments.text != ""
	if err := o.what.apply(c, f, &o.part); err != nil {
		return err
	}
	if o.segments.text != "" {
		o.part.Segment = o.segments.Old
	}
	if !c.Flags().Changed("match") {
		o.part.Match = o.keys.Old
	}
	if !strings.HasPrefix(o.part.Match, o.keys.Old) {
		return storeerr.New(storeerr.Invalid, "--match %q is more than the beginning %q of --map", o.part.Match, o.keys.Old)
	}
	return nil
}

// open returns the two sides. Where nothing is selected, an archive tells what
// to compare.
func (o *diffSides) open(ctx context.Context, f *Factory) (left, right transfer.Source, err error) {
	whole := len(o.what.stores) == 0
	for i, file := range o.files {
		if file == "" {
			continue
		}
		if o.archives[i], err = f.openArchive(file); err != nil {
			return left, right, err
		}
		has := transfer.SelectionOf(o.archives[i].Header())
		if first := i == 0 || o.files[0] == ""; whole && first {
			o.what.stores, o.part = has.Stores, has.Part
		} else if whole && !reflect.DeepEqual(has, o.selection()) {
			return left, right, storeerr.New(storeerr.Invalid, "the archives are not of the same stores or parts of them").
				WithHint("name with --store, --match, --segment and --namespace what is to be compared")
		}
	}
	var sides [2]transfer.Side
	switch {
	case o.archives[0] == nil && o.archives[1] == nil:
		sides[0], sides[1], err = o.left.open(ctx, reads, o.right, reads, o.what.stores)
		o.what.stores = sides[0].Stores()
	case o.archives[0] == nil:
		sides[0], err = o.left.side(reads, o.what.stores)
	case o.archives[1] == nil:
		sides[1], err = o.right.side(reads, o.what.stores)
	}
	if err != nil {
		return left, right, err
	}
	what := o.selection()
	if left, err = o.source(ctx, sides[0], o.archives[0], what); err != nil {
		return left, right, err
	}
	left = left.Renamed(o.keys.Mapping, o.segments.Mapping)
	right, err = o.source(ctx, sides[1], o.archives[1], what.Renamed(o.keys.Mapping, o.segments.Mapping))
	return left, right, err
}

// tellDoubts tells what speaks against the archives, which were read to their ends.
func (o *diffSides) tellDoubts(f *Factory) {
	for i, side := range []string{leftSide, rightSide} {
		if o.archives[i] == nil {
			continue
		}
		for _, doubt := range o.archives[i].Doubts() {
			f.warn("the %s side: %v", side, doubt)
		}
	}
}

// selection is what is compared of the left side.
func (o *diffSides) selection() transfer.Selection {
	return transfer.Selection{Stores: o.what.stores, Part: o.part}
}

func (o *diffSides) source(ctx context.Context, side transfer.Side, a *archiveFile, what transfer.Selection) (transfer.Source, error) {
	if a != nil {
		return transfer.FromArchive(a.Reader, what)
	}
	export := transfer.ExportOptions{Options: what.Part, MaxAge: time.Duration(o.maxAge)}
	export.Live = o.live
	return transfer.FromStores(ctx, side, export), nil
}
