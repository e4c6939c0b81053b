// Walking: from the keys of the server to the records in them.

package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/legacy"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/servers"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// groupRows bounds the rows that are read at once: each may have over 1 MiB.
const groupRows = 32

// item is a record on its way.
type item struct {
	legacy.Reading
	count *Count
	state state

	// Of an untagged row, and of a quarantine.
	tombstone bool
	score     string
	sha1      string // of the newest member, or of the entry in the index of opaque-v1, in hex
	members   int64
	version   string

	ambiguous, notBase64 bool // what the value as it stands may be
}

// walk goes through the keys under the old prefix.
func (m *migration) walk(ctx context.Context) error {
	err := servers.Keys(ctx, m.rdb, m.From+":", func(ctx context.Context, keys []string) error {
		var hashes, rows, quarantines []legacy.Key
		var strays []stray
		for _, key := range keys {
			names := keyspace.Under(m.From, key)
			if s, ok := m.stray(key, names); ok {
				strays = append(strays, s)
			}
			for _, n := range names {
				m.known = true
				k := legacy.Key{RedisKey: key, Name: n}
				switch {
				case n.Layout == keyspace.Current && n.Role == keyspace.Row && m.wants(keyspace.Untagged):
					rows = append(rows, k)
				case n.Role == keyspace.Quarantine && m.From == m.To && m.wants(keyspace.Untagged):
					quarantines = append(quarantines, k)
				case n.Layout == keyspace.Current || !m.wants(n.Layout):
				case n.Role == keyspace.Record:
					hashes = append(hashes, k)
				case n.Role == keyspace.Index, n.Role == keyspace.VersionCounter, n.Role == keyspace.Snapshot:
					m.count(n.Layout, n.Store).Beside++
					m.indexed = m.indexed || n.Role == keyspace.Index
					m.scans = m.scans || n.Role == keyspace.Snapshot
				case n.Role == keyspace.BlobValue:
					if err := m.blob(ctx, k); err != nil {
						return err
					}
				}
			}
		}
		if err := m.groups(ctx, hashes, m.readHashes, m.takeRows); err != nil {
			return err
		}
		if err := m.groups(ctx, rows, m.readUntagged, m.takeUntagged); err != nil {
			return err
		}
		if err := m.groups(ctx, quarantines, m.readQuarantines, m.takeQuarantines); err != nil {
			return err
		}
		if err := m.takeStrays(ctx, strays); err != nil {
			return err
		}
		if m.looked += int64(len(keys)); m.Progress != nil {
			m.Progress(m.looked)
		}
		return nil
	})
	if _, says := errors.AsType[*storeerr.Error](err); says {
		return err
	}
	return storeerr.FromRedis(err, storeerr.Reads, "looking for older layouts")
}

func (m *migration) wants(layout keyspace.Layout) bool {
	return len(m.Layouts) == 0 || slices.Contains(m.Layouts, layout)
}

// groups reads keys some at a time, and hands over what they hold.
func (m *migration) groups(ctx context.Context, keys []legacy.Key,
	read func(context.Context, []legacy.Key) ([]item, error), take func(context.Context, []item) error,
) error {
	for group := range slices.Chunk(keys, groupRows) {
		items, err := read(ctx, group)
		if err == nil {
			err = take(ctx, items)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *migration) readHashes(ctx context.Context, keys []legacy.Key) (items []item, err error) {
	readings, err := legacy.Read(ctx, m.rdb, keys...)
	for _, r := range readings {
		if !r.Foreign {
			items = append(items, item{Reading: r, count: m.count(r.Layout, r.Store), version: r.Record.Version})
		}
	}
	return items, err
}

// groupBytes bounds the members that one reply brings, but for its last one.
const groupBytes = 4 << 20

// readUntagged reads the newest member of each row. A row whose newest member
// is of the current layout, and what is no sorted set, is no item.
func (m *migration) readUntagged(ctx context.Context, keys []legacy.Key) (items []item, err error) {
	err = m.survey(ctx, keys, func(key legacy.Key, now int64, members int64, score, newest string) {
		if newest[0] == opaque.UntaggedByte {
			items = append(items, m.untagged(key, now, members, score, newest))
		} else if m.From != m.To {
			m.staying++
		}
	})
	return items, err
}

// survey hands over the newest member of each sorted set, how many members it
// has, and the score of that one.
func (m *migration) survey(ctx context.Context, keys []legacy.Key, take func(key legacy.Key, now, members int64, score, newest string)) error {
	for len(keys) > 0 {
		rows := make([]string, len(keys))
		for i, k := range keys {
			rows[i] = k.RedisKey
		}
		reply, err := luascripts.Must("opaque_survey").Run(ctx, m.rdb, rows, groupBytes).Slice()
		if err != nil {
			return storeerr.FromRedis(err, storeerr.Reads, "reading rows")
		}
		now, err := strconv.ParseInt(fmt.Sprint(reply[0]), 10, 64)
		if err != nil {
			return fmt.Errorf("reading the answer: %w", err)
		}
		for i, entry := range reply[1:] {
			parts, _ := entry.([]any)
			if len(parts) != 3 {
				continue
			}
			members, _ := parts[0].(int64)
			score, _ := parts[1].(string)
			if newest, _ := parts[2].(string); newest != "" {
				take(keys[i], now, members, score, newest)
			}
		}
		keys = keys[len(reply)-1:]
	}
	return nil
}
