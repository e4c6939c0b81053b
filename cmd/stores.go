// The stores that commands ask the factory for.

package cmd

import (
	"io"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// access is what a command means to do to a store.
type access int

const (
	reads access = iota
	writes
)

// opaque returns the versioned store of the settings' prefix.
func (f *Factory) opaque(a access) (*opaque.Store, error) {
	prefix, err := f.prefix()
	if err != nil {
		return nil, err
	}
	return open(f, a, prefix, opaque.New)
}

// blobs returns the blob store of the settings' prefix.
func (f *Factory) blobs(a access) (*blob.Store, error) {
	prefix, err := f.prefix()
	if err != nil {
		return nil, err
	}
	return open(f, a, prefix, blob.New)
}

// warm returns the warm store of the settings' prefix, which may be empty.
func (f *Factory) warm(a access) (*warm.Store, error) {
	s, err := f.Settings()
	if err != nil {
		return nil, err
	}
	return open(f, a, s.Prefix, warm.New)
}

// prefix is the one that the settings name; the opaque and blob stores have no
// default.
func (f *Factory) prefix() (string, error) {
	s, err := f.Settings()
	if err != nil {
		return "", err
	}
	if s.Prefix == "" {
		return "", storeerr.New(storeerr.Invalid, "no prefix is named").
			WithHint("give --prefix or set KEYSPACECTL_PREFIX; `keyspacectl prefixes` lists those that the server holds")
	}
	return s.Prefix, nil
}

// open makes a store on the connection. The prefix is checked before anything
// is opened.
func open[S any](f *Factory, a access, prefix string, make func(redis.UniversalClient, string) (S, error)) (S, error) {
	var none S
	if _, err := make(nil, prefix); err != nil {
		return none, err
	}
	client, err := f.connect(a)
	if err != nil {
		return none, err
	}
	return make(client, prefix)
}

// linesInto opens a file of lines, and the versioned store that they are for.
// The file comes first: what cannot be opened is told before anything is sent.
func (f *Factory) linesInto(path string, a access) (io.Reader, *opaque.Store, error) {
	lines, err := f.openInput(path)
	if err != nil {
		return nil, nil, err
	}
	store, err := f.opaque(a)
	return lines, store, err
}
