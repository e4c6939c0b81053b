// Package stats counts what the stores of a prefix hold: how many, how large,
// how old, until when, and what waits for collection.
//
// A look is one pass in bounded memory, whatever the stores hold: numbers go
// into histograms of fixed size, and of things with a name only the largest
// are kept. It reads beside the applications, page by page, and opens no
// snapshot, so that rows may be of different moments.
package stats

import (
	"context"
	"errors"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// MaxTop is how many of the largest a look names at most.
const MaxTop = 1000

// Stores are those that a look covers; one that is nil is left out.
type Stores struct {
	Opaque *opaque.Store
	Blob   *blob.Store
	Warm   *warm.Store
}

// Options says what a look counts.
type Options struct {
	// Prefix bounds the keys of the versioned store and the references of the
	// blob store. Counters, cleanup and snapshots are those of the whole store.
	Prefix string
	// Top is how many of the largest, and of the rows near the backlog, are
	// named: 0 to MaxTop.
	Top int
	// Found leaves out the stores of which there is nothing.
	Found bool
	// Since is the look before this one, between which and now writes are
	// counted. Without it they are counted while the look lasts.
	Since *Report
	// Progress, if not nil, is told how many more rows, blobs or chunks were
	// looked at.
	Progress func(more int64)
	// Damaged, if not nil, is told of each thing that is damaged: a
	// storeerr.Integrity. The look goes on behind it.
	Damaged func(error)
}

// Report is what a look found. A store that it does not cover is nil.
type Report struct {
	Opaque *Opaque
	Blob   *Blob
	Warm   *Warm
}

// Look looks through stores, one after the other. The errors are those of the
// connection, and storeerr.Invalid for options that are out of their limits.
func Look(ctx context.Context, s Stores, o Options) (*Report, error) {
	if o.Top < 0 || o.Top > MaxTop {
		return nil, storeerr.New(storeerr.Invalid, "the largest %d cannot be named: 0 to %d", o.Top, MaxTop)
	}
	var r Report
	if s.Opaque != nil {
		found, err := lookAtRows(ctx, s.Opaque, o)
		if err != nil {
			return nil, err
		}
		r.Opaque = found
	}
	if s.Blob != nil {
		found, err := lookAtBlobs(ctx, s.Blob, o)
		if err != nil {
			return nil, err
		}
		r.Blob = found
	}
	if s.Warm != nil {
		found, err := lookAtChunks(ctx, s.Warm, o)
		if err != nil {
			return nil, err
		}
		r.Warm = found
	}
	return &r, nil
}

// looked tells of one more.
func (o *Options) looked() {
	if o.Progress != nil {
		o.Progress(1)
	}
}

// damaged tells of err and counts it if it is damage, and otherwise returns it.
func (o *Options) damaged(err error, count *int64) error {
	if !errors.Is(err, storeerr.Integrity) {
		return err
	}
	*count++
	if o.Damaged != nil {
		o.Damaged(err)
	}
	return nil
}
