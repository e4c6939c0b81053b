// The index of opaque-v1, which has every row a second time.

package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/legacy"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// indexPage is how many entries of the index are asked for at once: each holds
// a value.
const indexPage = 16

// judgeIndexed looks at what the index has of rows of opaque-v1. One of which it
// says otherwise collides: nothing tells which of the two is the newer.
func (m *migration) judgeIndexed(ctx context.Context, items []item) error {
	var group []*item
	size := 0
	for i := range items {
		it := &items[i]
		if it.Layout != keyspace.OpaqueV1 || it.state != ready && it.state != done && it.state != expired {
			continue
		}
		if size += len(it.Record.Value); len(group) > 0 && size > batchBytes {
			if err := m.readIndexed(ctx, group); err != nil {
				return err
			}
			group, size = nil, len(it.Record.Value)
		}
		group = append(group, it)
	}
	return m.readIndexed(ctx, group)
}

func (m *migration) readIndexed(ctx context.Context, items []*item) error {
	if len(items) == 0 {
		return nil
	}
	entries := make([]*redis.StringCmd, len(items))
	_, err := m.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, it := range items {
			entries[i] = p.HGet(ctx, m.v1Key("index"), it.Record.Key)
		}
		return nil
	})
	if redis.HasErrorPrefix(err, "WRONGTYPE") {
		return nil // which is told of where the index itself is looked at
	}
	for i, it := range items {
		text, err := entries[i].Result()
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return storeerr.FromRedis(err, storeerr.Reads, "reading the index of layout "+string(keyspace.OpaqueV1))
		}
		it.sha1 = sha1Hex(text)
		if entry, err := legacy.DecodeIndexEntry(it.Record.Key, text); err != nil || entry != it.Record {
			m.collide(it, "the index has key %q otherwise", it.Record.Key)
		}
	}
	return nil
}

// indexV1 looks for rows of opaque-v1 that the index has and no record: their
// values would be lost.
func (m *migration) indexV1(ctx context.Context) error {
	index, effect := m.v1Key("index"), storeerr.Reads
	if m.mode == retires {
		effect = storeerr.Writes
	}
	for cursor := uint64(0); ; {
		page, next, err := m.rdb.HScan(ctx, index, cursor, "", indexPage).Result()
		if redis.HasErrorPrefix(err, "WRONGTYPE") {
			m.indexDamaged(storeerr.New(storeerr.Integrity, "the index of layout %s is no hash", keyspace.OpaqueV1).AtKey(index))
			return nil
		}
		if err == nil {
			err = m.indexEntries(ctx, index, page)
		}
		if err != nil {
			return storeerr.FromRedis(err, effect, "reading the index of layout "+string(keyspace.OpaqueV1))
		}
		if next == 0 {
			return nil
		}
		cursor = next
	}
}

// indexEntries looks at keys and entries in turn.
func (m *migration) indexEntries(ctx context.Context, index string, page []string) error {
	records := make([]*redis.IntCmd, len(page)/2)
	_, err := m.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range records {
			records[i] = p.Exists(ctx, m.recordV1(page[2*i]))
		}
		return nil
	})
	for i := range records {
		if err == nil && records[i].Val() == 0 {
			err = m.indexEntry(ctx, index, page[2*i], page[2*i+1])
		}
	}
	return err
}

// indexEntry judges an entry without a record: expired, or in the current
// layout already, and then it can be retired, or damage.
func (m *migration) indexEntry(ctx context.Context, index, key, text string) error {
	entry, err := legacy.DecodeIndexEntry(key, text)
	if err == nil {
		now, there, err := m.rows.Read(ctx, key)
		if err != nil {
			return err
		}
		row := there[0].Row
		switch c := m.count(keyspace.OpaqueV1, keyspace.Opaque); {
		case entry.ExpiresAt > 0 && entry.ExpiresAt <= now:
			c.Found++
			c.Expired++
			return m.unindex(ctx, index, key, text)
		case there[0].Found && row.Value == entry.Value && sameExpiry(row.ExpiresAt, entry.ExpiresAt):
			c.Found++
			c.Done++
			return m.unindex(ctx, index, key, text)
		}
	}
	m.indexDamaged(storeerr.New(storeerr.Integrity, "the index has key %q, and there is no record of it", key).AtKey(index))
	return nil
}

// unindex retires an entry without a record.
func (m *migration) unindex(ctx context.Context, index, key, text string) error {
	if m.mode != retires {
		return nil
	}
	it := item{Reading: legacy.Reading{Key: legacy.Key{RedisKey: index}}, count: m.count(keyspace.OpaqueV1, keyspace.Opaque)}
	if m.DryRun {
		it.count.Retired++
		return nil
	}
	keys := []string{index, m.recordV1(key)}
	reply, err := luascripts.Must("legacy_unindex").Run(ctx, m.rdb, keys, key, sha1Hex(text)).Text()
	if err == nil {
		m.retire(&it, reply)
	}
	return err
}

// recordV1 is the key of a record.
func (m *migration) recordV1(key string) string {
	sum := sha256.Sum256([]byte(key))
	return m.v1Key("record:" + hex.EncodeToString(sum[:]))
}

func (m *migration) indexDamaged(err error) {
	m.lost(m.count(keyspace.OpaqueV1, keyspace.Opaque))
	m.problem(err)
}
