// The stores that take part in moving data, and the flags that choose them.

package cmd

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/transfer"
)

// selection chooses stores, and what of them.
type selection struct {
	stores    []string
	match     string
	segment   string
	namespace string

	keys, chunks bool // a part of rows and blobs, or of chunks, is asked for by other flags
}

func (s *selection) register(c *cobra.Command) {
	c.Flags().StringSliceVar(&s.stores, "store", nil, "only this `STORE`: opaque, blob or warm; may be given several times")
	c.Flags().StringVar(&s.match, "match", "", "only rows and blobs whose keys and references begin with this `PREFIX`")
	c.Flags().StringVar(&s.segment, "segment", "", "only chunks of the segment of this `NAME`, in any namespace unless --namespace is given")
	c.Flags().StringVar(&s.namespace, "namespace", "", "only chunks of the namespace of this `NAME`; '' is none")
	// It fails only for a flag that does not exist or has one already.
	_ = c.RegisterFlagCompletionFunc("store", cobra.FixedCompletions(transfer.Stores(), cobra.ShellCompDirectiveNoFileComp))
}

// apply checks the choice against itself and puts it into options. Stores that
// are not named follow from what of them is asked for.
func (s *selection) apply(c *cobra.Command, f *Factory, o *archive.Options) (err error) {
	keys := s.keys || c.Flags().Changed("match")
	chunks := s.chunks || c.Flags().Changed("segment") || c.Flags().Changed("namespace")
	named := func(store string) bool { return slices.Contains(s.stores, store) }
	switch {
	case len(s.stores) == 0 && (keys || chunks):
		if keys {
			s.stores = append(s.stores, transfer.Opaque, transfer.Blob)
		}
		if chunks {
			s.stores = append(s.stores, transfer.Warm)
		}
	case keys && !named(transfer.Opaque) && !named(transfer.Blob):
		return storeerr.New(storeerr.Invalid, "rows and blobs are asked for by their keys, and neither store is named")
	case chunks && !named(transfer.Warm):
		return storeerr.New(storeerr.Invalid, "chunks are asked for by segment or namespace, and the warm store is not named")
	}
	if c.Flags().Changed("segment") && s.segment == "" {
		return storeerr.New(storeerr.Invalid, "--segment is empty")
	}
	if o.Match, err = f.key(s.match); err != nil {
		return err
	}
	o.Segment = s.segment
	if c.Flags().Changed("namespace") {
		o.Namespace = &s.namespace
	}
	return nil
}

// side returns the stores of the settings' prefix that are named, or all that
// it can have. Only the warm store alone does without a prefix.
func (f *Factory) side(a access, stores []string) (transfer.Side, error) {
	s, err := f.Settings()
	if err != nil {
		return transfer.Side{}, err
	}
	if !slices.Equal(stores, []string{transfer.Warm}) {
		if _, err := f.prefix(); err != nil {
			return transfer.Side{}, err
		}
	}
	if _, err := transfer.NewSide(nil, s.Prefix, stores...); err != nil {
		return transfer.Side{}, err
	}
	client, err := f.connect(a)
	if err != nil {
		return transfer.Side{}, err
	}
	return transfer.NewSide(client, s.Prefix, stores...)
}
