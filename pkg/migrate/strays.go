// Strays: keys whose names begin as those of a layout and are none of it, such
// as one with a reference that is too long. Their content would be missed.

package migrate

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// stray is a key that no reading of its name fits.
type stray struct {
	redisKey string
	layout   keyspace.Layout
	kind     string // the type that it must have to be meant, "" for any
}

// stray returns what a key is that is none of a layout by its name; ok is false
// for one that has nothing to do with any that is wanted.
func (m *migration) stray(redisKey string, readings []keyspace.Name) (s stray, ok bool) {
	for _, n := range readings {
		if n.Layout == keyspace.Current || n.Role != keyspace.Unknown {
			return stray{}, false
		}
	}
	layout, kind := keyspace.BeginsAs(m.From, redisKey)
	return stray{redisKey, layout, kind}, layout != "" && m.wants(layout)
}

// takeStrays counts those that have the type of a record as damaged.
func (m *migration) takeStrays(ctx context.Context, strays []stray) error {
	if len(strays) == 0 {
		return nil
	}
	kinds := make([]*redis.StatusCmd, len(strays))
	if _, err := m.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, s := range strays {
			kinds[i] = p.Type(ctx, s.redisKey)
		}
		return nil
	}); err != nil {
		return storeerr.FromRedis(err, storeerr.Reads, "looking at the types of keys")
	}
	for i, s := range strays {
		if kind := kinds[i].Val(); kind == "none" || s.kind != "" && s.kind != kind {
			continue
		}
		m.known = true
		c := m.count(s.layout, storeOf(s.layout))
		m.lost(c)
		m.problem(storeerr.New(storeerr.Integrity, "its name begins as those of layout %s, and is none of it", s.layout).AtKey(s.redisKey))
	}
	return nil
}

// lost counts a record that cannot be read, and stays.
func (m *migration) lost(c *Count) {
	c.Found++
	c.Damaged++
	if m.mode == retires {
		c.Kept++
	}
}

func storeOf(layout keyspace.Layout) keyspace.Store {
	switch layout {
	case keyspace.OpaqueV1, keyspace.Tagless, keyspace.Untagged:
		return keyspace.Opaque
	}
	return keyspace.Blob
}
