// The store of untagged rows, behind its last row: what stays in it, and whether
// its counter is fit for what is written next.

package migrate

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// finishUntagged tells what becomes of the store of untagged rows.
func (m *migration) finishUntagged(ctx context.Context) error {
	if m.staying > 0 {
		m.problem(storeerr.New(storeerr.Conflict, "rows that are not untagged (%d) stay under the prefix %q: `copy` takes those of the current layout along", m.staying, m.From))
	}
	if m.aside > 0 && m.mode == retires && !m.InPlace {
		m.problem(storeerr.New(storeerr.Conflict, "old members of untagged rows (%d) are in quarantine: --retire --in-place deletes them", m.aside))
	}
	c := m.counts[keyspace.Untagged]
	switch {
	case c == nil:
	case m.InPlace && m.mode != retires && m.highest > 0:
		return m.checkCounter(ctx)
	case m.From != m.To && m.mode == retires && !m.DryRun && c.Kept == 0 && m.alone != "":
		k := m.oldKeys
		left, err := m.rdb.Exists(ctx, k.Index(), k.Map(), k.Cleanup(), k.Sequence()).Result()
		c.Beside = left
		return storeerr.FromRedis(err, storeerr.Reads, "looking at what is left of layout "+string(c.Layout))
	}
	return nil
}

// checkCounter tells of a counter from which no next version can come.
func (m *migration) checkCounter(ctx context.Context) error {
	books, err := m.rows.Bookkeeping(ctx)
	if err != nil && !errors.Is(err, storeerr.Integrity) {
		return err
	}
	if counter, wrong := strconv.ParseFloat(books.Counter, 64); err != nil || wrong != nil || counter < m.highest {
		m.problem(storeerr.New(storeerr.Integrity, "the counter is none, or lower than the scores of rows: `verify --repair` before anything writes").AtKey(m.oldKeys.Sequence()))
	}
	return nil
}

// raise keeps the highest score.
func (m *migration) raise(it *item) {
	if score, err := strconv.ParseFloat(it.score, 64); err == nil {
		m.highest = max(m.highest, score)
	}
}

// heldBySnapshot tells whether a snapshot of the old store is open.
func (m *migration) heldBySnapshot(ctx context.Context) (bool, error) {
	store, err := opaque.New(m.rdb, m.From)
	if err != nil {
		return false, err
	}
	_, states, err := store.Snapshots(ctx)
	return slices.ContainsFunc(states, func(s opaque.SnapshotState) bool { return !s.Ended }), err
}
