// The index of opaque-v1, which has every row a second time.

package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/legacy"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// indexPage is how many entries of the index are asked for at once: each holds
// a value.
const indexPage = 16

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
		if entry.ExpiresAt > 0 && entry.ExpiresAt <= now || there[0].Found && there[0].Row.Value == entry.Value {
			return m.unindex(ctx, index, key, text)
		}
	}
	m.indexDamaged(storeerr.New(storeerr.Integrity, "the index has key %q, and there is no record of it", key).AtKey(index))
	return nil
}

// unindex retires an entry without a record.
func (m *migration) unindex(ctx context.Context, index, key, text string) error {
	if m.mode != retires || m.DryRun {
		return nil
	}
	keys := []string{index, m.recordV1(key)}
	return luascripts.Must("legacy_unindex").Run(ctx, m.rdb, keys, key, sha1Hex(text)).Err()
}

// recordV1 is the key of a record.
func (m *migration) recordV1(key string) string {
	sum := sha256.Sum256([]byte(key))
	return m.v1Key("record:" + hex.EncodeToString(sum[:]))
}

func (m *migration) indexDamaged(err error) {
	c := m.count(keyspace.OpaqueV1, keyspace.Opaque)
	c.Found++
	c.Damaged++
	c.Kept++
	m.problem(err)
}
