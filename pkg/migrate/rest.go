// Retiring what layouts keep beside their records, behind the last of these.

package migrate

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/servers"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// finish looks at what layouts keep beside their records.
func (m *migration) finish(ctx context.Context) error {
	if m.counts[keyspace.OpaqueV1] != nil {
		if err := m.indexV1(ctx); err != nil {
			return err
		}
	}
	if c := m.counts[keyspace.OpaqueV1]; m.retired(c) {
		if err := m.retireRestV1(ctx, c); err != nil {
			return err
		}
	}
	if c := m.counts[keyspace.Tagless]; m.retired(c) {
		if err := m.retireRest(ctx, c, "string", nil, m.From+":opaque:version"); err != nil {
			return err
		}
	}
	return m.finishUntagged(ctx)
}

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

// retired tells whether a layout has something beside its records, and none of
// these is left.
func (m *migration) retired(c *Count) bool {
	return c != nil && m.mode == retires && !m.DryRun && c.Kept == 0 && c.Beside > 0
}

func (m *migration) v1Key(name string) string { return m.From + ":{zlink-location-opaque-v1}:" + name }

// retireRestV1 retires what opaque-v1 has left. The index went with the last
// record that it names. The lists hold no row of their own: each is what a scan
// had yet to return.
func (m *migration) retireRestV1(ctx context.Context, c *Count) error {
	index := m.v1Key("index")
	left, err := m.rdb.Exists(ctx, index).Result()
	if err != nil {
		return storeerr.FromRedis(err, storeerr.Reads, "looking for the index of layout "+string(c.Layout))
	}
	if left > 0 {
		return nil
	}
	if m.indexed {
		c.Beside--
	}
	if m.scans {
		if err := servers.Keys(ctx, m.rdb, m.v1Key("scan:"), func(ctx context.Context, keys []string) error {
			if len(keys) == 0 {
				return nil
			}
			return m.retireRest(ctx, c, "list", []string{index}, keys...)
		}); err != nil {
			return storeerr.FromRedis(err, storeerr.Reads, "looking for scans of layout "+string(c.Layout))
		}
	}
	return m.retireRest(ctx, c, "string", []string{index}, m.v1Key("version"))
}

// retireRest deletes keys of a type, if others do not exist.
func (m *migration) retireRest(ctx context.Context, c *Count, kind string, present []string, keys ...string) error {
	gone, err := luascripts.Must("retire_rest").Run(ctx, m.rdb, slices.Concat(present, keys), len(present), kind).Int64()
	c.Beside = max(0, c.Beside-gone)
	return storeerr.FromRedis(err, storeerr.Writes, "retiring what is left of layout "+string(c.Layout))
}
