// What snapshots hold back: which versions, and which rows are near the
// backlog because of them.

package stats

import (
	"context"
	"sort"
	"strconv"

	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Held is what one snapshot holds back: what could be collected if it and all
// others were closed, and cannot while it is open. Snapshots hold much of it
// together.
type Held struct {
	opaque.SnapshotState
	Rows     int64 // with a version that it holds
	Versions int64
	Bytes    int64 // of these versions as they stand in Redis
	Near     int64 // rows of which it holds all of NearBacklog versions or more
	Fullest  []Sized[string]
}

// HeldBack tells, in one pass, what each of a store's snapshots holds back, in
// the order of [opaque.Store.Snapshots], and the server's time. Those that are
// opened meanwhile are not among them. Of the options, Prefix, Top, Progress
// and Damaged are used.
//
// A snapshot keeps the version that it reads of a row, and all above it; while
// any is open, rows that were deleted or have expired stay too.
func HeldBack(ctx context.Context, store *opaque.Store, o Options) (now int64, held []Held, err error) {
	if o.Top < 0 || o.Top > MaxTop {
		return 0, nil, storeerr.New(storeerr.Invalid, "the largest %d cannot be named: 0 to %d", o.Top, MaxTop)
	}
	now, states, err := store.Snapshots(ctx)
	if err != nil {
		return 0, nil, err
	}
	h := newHolders(states, o.Top)
	if len(h.open) > 0 {
		err = h.look(ctx, store, &o)
	}
	return now, h.done(), err
}

// holders are the snapshots that hold something back.
type holders struct {
	all        []Held
	open       []int     // places in all, by their boundaries, ascending
	boundaries []float64 // of those
	fullest    []largest[string]
	pending    []opaque.Surveyed // rows whose versions are to be looked at
}

func newHolders(states []opaque.SnapshotState, top int) *holders {
	h := &holders{all: make([]Held, len(states))}
	for i, state := range states {
		h.all[i].SnapshotState = state
		// One without an end holds back, too: nothing says that it has ended.
		if boundary, err := strconv.ParseFloat(state.Boundary, 64); err == nil && !state.Ended {
			h.open, h.boundaries = append(h.open, i), append(h.boundaries, boundary)
		}
	}
	h.fullest = make([]largest[string], len(h.open))
	for i := range h.fullest {
		h.fullest[i].limit = top
	}
	sort.Sort(h)
	return h
}

// Len, Less and Swap sort the holders by their boundaries.
func (h *holders) Len() int           { return len(h.open) }
func (h *holders) Less(i, j int) bool { return h.boundaries[i] < h.boundaries[j] }
func (h *holders) Swap(i, j int) {
	h.open[i], h.open[j] = h.open[j], h.open[i]
	h.boundaries[i], h.boundaries[j] = h.boundaries[j], h.boundaries[i]
}

// sizedRows is how many rows are asked for their versions at once.
const sizedRows = 200

func (h *holders) look(ctx context.Context, store *opaque.Store, o *Options) error {
	var damaged int64
	for row, err := range store.Survey(ctx, opaque.SurveyOptions{Prefix: o.Prefix}) {
		if err := o.damaged(err, &damaged); err != nil {
			return err
		}
		o.looked()
		if row.Versions < 2 && (row.Versions == 0 || row.Live()) {
			continue
		}
		row.Raw, row.Newest.Value = "", ""
		if h.pending = append(h.pending, row); len(h.pending) == sizedRows {
			if err := h.flush(ctx, store); err != nil {
				return err
			}
		}
	}
	return h.flush(ctx, store)
}

func (h *holders) flush(ctx context.Context, store *opaque.Store) error {
	keys := make([]string, len(h.pending))
	for i, row := range h.pending {
		keys[i] = row.Key
	}
	if len(keys) == 0 {
		return nil
	}
	rows, err := store.Sizes(ctx, keys...)
	if err != nil {
		return err
	}
	for i, versions := range rows {
		h.add(h.pending[i], versions)
	}
	h.pending = h.pending[:0]
	return nil
}

// add counts a row. A version is held by the snapshots with a boundary below
// the version that replaced it: those that come first. So each version counts
// for the last of them alone, and done adds it to all before.
func (h *holders) add(row opaque.Surveyed, versions []opaque.VersionSize) {
	n := len(versions)
	if n == 0 {
		return // it went meanwhile
	}
	holding := func(version int) int { // how many snapshots hold it
		if version < n-1 {
			return sort.SearchFloat64s(h.boundaries, versions[version+1].Sequence)
		}
		if row.Live() {
			return 0
		}
		return len(h.open)
	}
	rows := 0
	for i, version := range versions {
		if by := holding(i); by > 0 {
			last := &h.all[h.open[by-1]]
			last.Versions++
			last.Bytes += version.Bytes
			rows = max(rows, by)
		}
	}
	if rows > 0 {
		h.all[h.open[rows-1]].Rows++
	}
	if n >= NearBacklog {
		// The newest counts into the backlog, held or not.
		by := holding(n - NearBacklog)
		for i := range by {
			h.fullest[i].add(row.Key, int64(n))
		}
		if by > 0 {
			h.all[h.open[by-1]].Near++
		}
	}
}

// done adds what was counted for the last to hold it to all who do.
func (h *holders) done() []Held {
	var sum Held
	for i := len(h.open) - 1; i >= 0; i-- {
		of := &h.all[h.open[i]]
		sum.Rows, sum.Versions = sum.Rows+of.Rows, sum.Versions+of.Versions
		sum.Bytes, sum.Near = sum.Bytes+of.Bytes, sum.Near+of.Near
		of.Rows, of.Versions, of.Bytes, of.Near = sum.Rows, sum.Versions, sum.Bytes, sum.Near
		of.Fullest = h.fullest[i].list
	}
	return h.all
}
