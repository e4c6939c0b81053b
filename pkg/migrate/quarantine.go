// Quarantines: where rewriting rows in place puts their old members.

package migrate

import (
	"context"
	"strconv"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/legacy"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// readQuarantines reads the newest member of each. One that has no untagged
// member is what a repair put aside, and no item. One that has some and another
// newest one is kept.
func (m *migration) readQuarantines(ctx context.Context, keys []legacy.Key) (items []item, err error) {
	type mixed struct {
		key     legacy.Key
		members int64
	}
	var others []mixed
	err = m.survey(ctx, keys, func(key legacy.Key, now, members int64, score, newest string) {
		if newest[0] == opaque.UntaggedByte {
			items = append(items, m.untagged(key, now, members, score, newest))
		} else {
			others = append(others, mixed{key, members})
		}
	})
	if err != nil || m.mode != retires || !m.InPlace {
		return items, err
	}
	for _, other := range others {
		found := false
		if err := m.members(ctx, other.key.RedisKey, other.members, func(member string) bool {
			found = member != "" && member[0] == opaque.UntaggedByte
			return !found
		}); err != nil {
			return nil, err
		}
		if found {
			c := m.count(keyspace.Untagged, keyspace.Opaque)
			c.Found++
			c.Kept++
			m.problem(storeerr.New(storeerr.Conflict, "kept: what a repair put aside is with the old members").AtKey(other.key.RedisKey))
		}
	}
	return items, nil
}

// members hands over the members of a sorted set one by one, lowest first, until
// take returns false.
func (m *migration) members(ctx context.Context, redisKey string, count int64, take func(member string) bool) error {
	for rank := range count {
		members, err := m.rdb.ZRange(ctx, redisKey, rank, rank).Result()
		if err != nil {
			return storeerr.FromRedis(err, storeerr.Reads, "reading "+quote(redisKey))
		}
		if len(members) == 0 || !take(members[0]) {
			return nil
		}
	}
	return nil
}

// takeQuarantines retires them, or counts what was rewritten.
func (m *migration) takeQuarantines(ctx context.Context, items []item) error {
	for i := range items {
		it := &items[i]
		m.aside++
		switch {
		case m.mode == retires && m.InPlace:
			it.count.Found++
			if err := m.retireQuarantine(ctx, it); err != nil {
				return err
			}
		case m.mode == plans && it.Err == nil:
			it.state, it.ambiguous, it.notBase64 = done, false, false
			it.tally()
			m.rewritten++
		}
	}
	if m.mode == plans && m.InPlace && m.Values == Unsaid {
		return m.countDecoded(ctx, items)
	}
	return nil
}

// countDecoded counts rows whose values are not those that were put aside, but
// what these are as base64 text.
func (m *migration) countDecoded(ctx context.Context, items []item) error {
	var keys, texts []string
	for _, it := range items {
		if it.state == done {
			keys, texts = append(keys, it.Record.Key), append(texts, it.Record.Value)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	_, rows, err := m.rows.Read(ctx, keys...)
	for i, row := range rows {
		value, notBase64 := legacy.DecodeBase64(texts[i])
		if row.Found && row.Row.Value != texts[i] && notBase64 == nil && row.Row.Value == value {
			m.decoded++
		}
	}
	return err
}

func (m *migration) retireQuarantine(ctx context.Context, it *item) error {
	if it.Err == nil {
		it.Err = m.checkAside(ctx, it)
	}
	if it.Err != nil {
		it.count.Kept++
		m.problem(it.Err)
		return nil
	}
	if m.DryRun {
		it.count.Retired++
		return nil
	}
	reply, err := luascripts.Must("opaque_retire").Run(ctx, m.rdb, []string{it.RedisKey}, it.sha1, it.members).Text()
	if err != nil {
		return storeerr.FromRedis(err, storeerr.Writes, "retiring "+quote(it.RedisKey))
	}
	m.retire(it, reply)
	return nil
}

// checkAside returns why the members that were put aside of a row have to stay,
// or nil: each must be one that a migration moved, and the row must have the
// newest of them, or a later version.
func (m *migration) checkAside(ctx context.Context, it *item) error {
	keep := func(format string, args ...any) error {
		return storeerr.New(storeerr.Conflict, "kept: "+format, args...).AtKey(it.RedisKey)
	}
	seen, sound, own := int64(0), true, true
	if err := m.members(ctx, it.RedisKey, it.members, func(member string) bool {
		seen++
		key, ok := keyOf(member)
		sound, own = ok, key == it.Record.Key
		return sound && own
	}); err != nil {
		return err
	}
	switch {
	case !sound:
		return keep("it holds members that do not decode")
	case !own:
		return keep("it holds a version of another key")
	case seen < it.members:
		return keep("it changed while it was looked at")
	}
	row, err := m.rdb.ZRevRangeWithScores(ctx, m.oldKeys.Row(it.Record.Key), 0, 0).Result()
	if err != nil {
		return storeerr.FromRedis(err, storeerr.Reads, "reading row "+quote(it.Record.Key))
	}
	r := it.Record
	if len(row) == 0 {
		if it.tombstone || r.ExpiresAt > 0 && r.ExpiresAt <= it.Now {
			return nil
		}
		return keep("key %q has no row", r.Key)
	}
	newest, err := opaque.DecodeMember(row[0].Member.(string))
	if err != nil || newest.Key != r.Key {
		return keep("the row of key %q does not decode", r.Key)
	}
	aside, err := strconv.ParseFloat(it.score, 64)
	if err != nil {
		return keep("its score is %q", it.score)
	}
	equal := newest.Value == r.Value && newest.ExpiresAt == r.ExpiresAt && newest.Tombstone == it.tombstone
	if row[0].Score < aside || row[0].Score == aside && !equal {
		return keep("the row of key %q has no equal version", r.Key)
	}
	return nil
}

// keyOf returns the key that a member of either layout names.
func keyOf(member string) (key string, ok bool) {
	if m, err := opaque.DecodeMember(member); err == nil {
		return m.Key, true
	}
	m, _, err := legacy.DecodeMember(member)
	return m.Key, err == nil
}
