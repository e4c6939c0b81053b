package stats

import (
	"context"
	"strconv"

	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

const (
	// NearBacklog is how many versions a row has that is near the backlog, at
	// which writes to it are refused while snapshots are open.
	NearBacklog = 100
	maxVersions = opaque.MaxRowVersions
)

// Opaque is what a look found in the versioned store.
type Opaque struct {
	opaque.Bookkeeping
	Rows      Rows
	KeyBytes  int64        // of live rows
	Values    Distribution // bytes of the values of live rows
	Largest   []Sized[string]
	Versions  Distribution // versions a row, of live rows and others
	Near      int64        // rows with NearBacklog versions or more
	Fullest   []Sized[string]
	Expiries  Expiries // of live rows
	Writes    Writes
	Snapshots Snapshots
}

// Rows counts the entries of the index.
type Rows struct {
	Live       int64
	Expired    int64
	Tombstoned int64
	Damaged    int64 // with them what else of the store is damaged
	Missing    int64 // entries without a row, some of them gone since the index was read
}

// Snapshots counts the snapshots that the store knows.
type Snapshots struct {
	Open   int64
	Ended  int64
	Oldest *opaque.SnapshotState // of those that are open the one with the lowest boundary, or nil
}

// Writes is how many batches were applied in how many ms.
type Writes struct {
	Batches  int64
	Interval int64
}

// minInterval is how many ms say something about a rate.
const minInterval = 100

// PerSecond is the rate, and whether the interval was long enough to tell one.
func (w Writes) PerSecond() (rate float64, known bool) {
	if w.Interval < minInterval || w.Batches < 0 {
		return 0, false
	}
	return float64(w.Batches) * 1000 / float64(w.Interval), true
}

func lookAtRows(ctx context.Context, store *opaque.Store, o Options) (*Opaque, error) {
	var s Opaque
	first, err := store.Bookkeeping(ctx)
	if err := o.damaged(err, &s.Rows.Damaged); err != nil {
		return nil, err
	}
	if o.Found && err == nil && !first.Exists() {
		return nil, nil
	}
	rows := rowCounter{found: &s, versions: newSpread(versionBounds()...), values: newSpread(sizeBounds()...)}
	rows.largest.limit, rows.fullest.limit = o.Top, o.Top
	s.Expiries = newExpiries()
	for row, err := range store.Survey(ctx, opaque.SurveyOptions{Prefix: o.Prefix}) {
		if err != nil {
			if err := o.damaged(err, &s.Rows.Damaged); err != nil {
				return nil, err
			}
		} else {
			rows.add(row)
		}
		o.looked()
	}
	s.Values, s.Versions = rows.values.done(), rows.versions.done()
	s.Largest, s.Fullest = rows.largest.list, rows.fullest.list
	if s.Snapshots, err = lookAtSnapshots(ctx, store); err != nil {
		if err := o.damaged(err, &s.Rows.Damaged); err != nil {
			return nil, err
		}
	}
	if first.Now == 0 {
		return &s, nil // it is damaged, and was told of
	}
	if s.Bookkeeping, err = store.Bookkeeping(ctx); err != nil {
		return nil, err
	}
	if o.Since != nil && o.Since.Opaque != nil {
		first = o.Since.Opaque.Bookkeeping
	}
	s.Writes = writes(first, s.Bookkeeping)
	return &s, nil
}

// rowCounter counts rows that are not damaged.
type rowCounter struct {
	found            *Opaque
	versions, values *spread
	largest, fullest largest[string]
}

func (c *rowCounter) add(row opaque.Surveyed) {
	s := c.found
	switch {
	case row.Versions == 0:
		s.Rows.Missing++
		return
	case row.Newest.Tombstone:
		s.Rows.Tombstoned++
	case !row.Live():
		s.Rows.Expired++
	default:
		s.Rows.Live++
		s.KeyBytes += int64(len(row.Key))
		s.Expiries.add(row.Newest.ExpiresAt, row.Now)
		size := int64(len(row.Newest.Value))
		c.values.add(size)
		c.largest.add(row.Key, size)
	}
	c.versions.add(row.Versions)
	if row.Versions >= NearBacklog {
		s.Near++
		c.fullest.add(row.Key, row.Versions)
	}
}

func lookAtSnapshots(ctx context.Context, store *opaque.Store) (Snapshots, error) {
	var s Snapshots
	_, states, err := store.Snapshots(ctx)
	for _, st := range states {
		switch {
		case st.Ended:
			s.Ended++
		case s.Oldest == nil:
			s.Open++
			s.Oldest = &st
		default:
			s.Open++
		}
	}
	return s, err
}

// writes counts the batches between two looks. A counter that is none, or went
// back, tells nothing.
func writes(before, after opaque.Bookkeeping) Writes {
	from, fromErr := strconv.ParseInt("0"+before.Counter, 10, 64)
	to, toErr := strconv.ParseInt("0"+after.Counter, 10, 64)
	if fromErr != nil || toErr != nil || to < from {
		return Writes{}
	}
	return Writes{Batches: to - from, Interval: after.Now - before.Now}
}
