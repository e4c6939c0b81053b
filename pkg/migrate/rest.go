// Retiring what layouts keep beside their records, behind the last of these.

package migrate

import (
	"context"
	"slices"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
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
