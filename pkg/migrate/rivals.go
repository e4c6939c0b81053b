// Rivals: the same row or blob in several older layouts. Nothing tells which of
// them is the newer one, so where they differ none is written.

package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/legacy"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// judgeRivals looks at items that are ready: those of which another of the
// layouts to migrate has another value or expiry collide.
func (m *migration) judgeRivals(ctx context.Context, items ...*item) error {
	type rival struct {
		of     *item
		key    legacy.Key
		exists *redis.IntCmd
	}
	var rivals []rival
	for _, it := range items {
		if it.state != ready {
			continue
		}
		for _, key := range m.rivals(it) {
			rivals = append(rivals, rival{of: it, key: key})
		}
	}
	if len(rivals) == 0 {
		return nil
	}
	if _, err := m.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range rivals {
			rivals[i].exists = p.Exists(ctx, rivals[i].key.RedisKey)
		}
		return nil
	}); err != nil {
		return storeerr.FromRedis(err, storeerr.Reads, "looking for the same key in other layouts")
	}
	for _, r := range rivals {
		if r.of.state != ready || r.exists.Val() == 0 {
			continue
		}
		others, err := m.readRecord(ctx, r.key)
		if err != nil {
			return err
		}
		for i := range others {
			other := &others[i]
			if other.Err != nil || !other.Found || other.isExpired() {
				continue
			}
			mine := r.of.Record
			if other.tombstone {
				m.collide(r.of, "layout %s has %q deleted", r.key.Layout, mine.Key)
			} else if other.Record.Value != mine.Value || !sameExpiry(other.Record.ExpiresAt, mine.ExpiresAt) {
				m.collide(r.of, "layout %s has another %q", r.key.Layout, mine.Key)
			}
		}
	}
	return nil
}

// readRecord reads a record of any layout: one, or none.
func (m *migration) readRecord(ctx context.Context, key legacy.Key) ([]item, error) {
	if key.Layout == keyspace.Untagged {
		return m.readUntagged(ctx, []legacy.Key{key})
	}
	return m.readHashes(ctx, []legacy.Key{key})
}

// rivals are the keys that the record of an item would have in the other
// layouts. Where new rows come to the prefix of old ones, an untagged row stands
// in the place of the new one.
func (m *migration) rivals(it *item) []legacy.Key {
	key := it.Record.Key
	sum := sha256.Sum256([]byte(key))
	digest := hex.EncodeToString(sum[:])
	names := map[keyspace.Layout]string{
		keyspace.RelocationOpaqueV1: m.From + ":{zlink-relocation-opaque-v1}:blob:" + digest,
		keyspace.Payload:            m.From + ":payload:" + key,
		keyspace.PlainBlob:          m.From + ":blob:" + key,
		keyspace.RelocationRoot:     m.From + ":{relocation}:root:" + key,
	}
	if it.Store == keyspace.Opaque {
		names = map[keyspace.Layout]string{
			keyspace.OpaqueV1: m.recordV1(key),
			keyspace.Tagless:  m.From + ":opaque:" + hex.EncodeToString([]byte(key)),
		}
		if m.From != m.To {
			names[keyspace.Untagged] = m.oldKeys.Row(key)
		}
	}
	var keys []legacy.Key
	for layout, redisKey := range names {
		if layout == it.count.Layout || !m.wants(layout) {
			continue
		}
		for _, name := range keyspace.Under(m.From, redisKey) {
			if name.Layout == layout || layout == keyspace.Untagged {
				name.Layout = layout
				keys = append(keys, legacy.Key{RedisKey: redisKey, Name: name})
			}
		}
	}
	return keys
}
