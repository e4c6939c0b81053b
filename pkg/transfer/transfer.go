// Package transfer moves the stores of a prefix: out of Redis as records in a
// fixed order, and into Redis from records, wherever those come from.
//
// What moves is current state: an import writes rows, blobs and chunks as
// their stores do, under versions and tokens of the destination, so that
// applications can work on both sides meanwhile.
package transfer

import (
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// The names of the stores, in the order in which records come.
const (
	Opaque = "opaque"
	Blob   = "blob"
	Warm   = "warm"
)

// Stores returns the names of all stores, in the order of records.
func Stores() []string { return []string{Opaque, Blob, Warm} }

// Side is the stores of a prefix on a server. A store that is nil takes no part.
type Side struct {
	Prefix string
	Opaque *opaque.Store
	Blob   *blob.Store
	Warm   *warm.Store

	rdb redis.UniversalClient
}

// NewSide returns the named stores of a prefix, or where none is named all
// that can have such a prefix. It is storeerr.Invalid for a prefix or a name
// that cannot be. Nothing is sent.
func NewSide(rdb redis.UniversalClient, prefix string, stores ...string) (Side, error) {
	s := Side{Prefix: prefix, rdb: rdb}
	for _, name := range stores {
		if !slices.Contains(Stores(), name) {
			return Side{}, storeerr.New(storeerr.Invalid, "a store is opaque, blob or warm, not %q", name)
		}
	}
	var failed error
	add := func(name string, err error) {
		if err != nil && (slices.Contains(stores, name) || len(stores) == 0 && failed == nil) {
			failed = err
		}
	}
	wanted := func(name string) bool { return len(stores) == 0 || slices.Contains(stores, name) }
	if wanted(Opaque) {
		var err error
		s.Opaque, err = opaque.New(rdb, prefix)
		add(Opaque, err)
	}
	if wanted(Blob) {
		var err error
		s.Blob, err = blob.New(rdb, prefix)
		add(Blob, err)
	}
	if wanted(Warm) {
		var err error
		s.Warm, err = warm.New(rdb, prefix)
		add(Warm, err)
	}
	if len(s.Stores()) == 0 || len(stores) > 0 && failed != nil {
		return Side{}, failed
	}
	return s, nil
}

// Stores returns the names of the stores that take part.
func (s Side) Stores() []string {
	names := []string{}
	if s.Opaque != nil {
		names = append(names, Opaque)
	}
	if s.Blob != nil {
		names = append(names, Blob)
	}
	if s.Warm != nil {
		names = append(names, Warm)
	}
	return names
}

// SkippedError is an error that concerns one record alone: it is left out, and
// the others go on.
type SkippedError struct{ Err error }

// Error returns the message of the cause.
func (s *SkippedError) Error() string { return s.Err.Error() }

// Unwrap returns the cause, an error of storeerr.
func (s *SkippedError) Unwrap() error { return s.Err }
