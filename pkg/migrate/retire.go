// Retiring: deleting old keys that have their equal in the current layout.

package migrate

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"strconv"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/legacy"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func quote(key string) string { return strconv.Quote(key) }

// retireRecords deletes the old keys of items that have their equal, and of
// those that there is nothing to migrate of.
func (m *migration) retireRecords(ctx context.Context, items []item) error {
	var going []*item
	var calls []luascripts.Call
	for i := range items {
		it := &items[i]
		switch it.state {
		case done, expired, tombstone:
			going = append(going, it)
			calls = append(calls, m.retirement(it))
		case ready:
			it.count.Kept++
			m.problem(storeerr.New(storeerr.Conflict, "kept: the current layout has no %q", it.Record.Key).AtKey(it.RedisKey))
		case collides, damaged:
			it.count.Kept++
		}
	}
	if len(calls) == 0 {
		return nil
	}
	if m.DryRun {
		for _, it := range going {
			it.count.Retired++
		}
		return nil
	}
	var failed error
	for i, cmd := range luascripts.Pipeline(ctx, m.rdb, calls) {
		reply, err := cmd.Text()
		if err == nil {
			m.retire(going[i], reply)
		} else if failed == nil {
			failed = storeerr.FromRedis(err, storeerr.Writes, "retiring "+quote(going[i].RedisKey))
		}
	}
	return failed
}

// retire counts what a script did.
func (m *migration) retire(it *item, reply string) {
	switch reply {
	case "retired", "missing":
		it.count.Retired++
		return
	case "changed":
		reply = "it changed while it was looked at"
	case "snapshot":
		reply = "an open snapshot may read it"
	}
	it.count.Kept++
	m.problem(storeerr.New(storeerr.Conflict, "kept: %s", reply).AtKey(it.RedisKey))
}

// noTime says that a field of the record says when it expires.
const noTime = -1

// retirement is the script that deletes an old key as it was read.
func (m *migration) retirement(it *item) luascripts.Call {
	r := it.Record
	if it.sha1 != "" {
		k := m.oldKeys
		return luascripts.Call{
			Script: luascripts.Must("opaque_retire"),
			Keys:   []string{it.RedisKey, k.Index(), k.Map(), k.Cleanup(), k.SnapshotExpiry(), k.SnapshotBoundary(), k.Sequence()},
			Args:   []any{it.sha1, it.members, r.Key},
		}
	}
	keys := []string{it.RedisKey}
	stored, field, ends, indexed := r.Value, "", r.ExpiresAt, ""
	var others []any
	switch it.Layout {
	case keyspace.OpaqueV1:
		keys = append(keys, m.v1Key("index"))
		stored, field, ends, indexed = encode(r.Value), "bytes", noTime, r.Key
		others = []any{"version", r.Version, "expiresAtMs", strconv.FormatInt(r.ExpiresAt, 10)}
	case keyspace.Tagless:
		field, others = "bytes", []any{"version", r.Version}
	case keyspace.RelocationOpaqueV1:
		field, ends, others = "bytes", noTime, []any{"expiresAtMs", strconv.FormatInt(r.ExpiresAt, 10)}
	case keyspace.RelocationRoot:
		stored = encode(r.Value)
	}
	return luascripts.Call{
		Script: luascripts.Must("legacy_retire"), Keys: keys, Args: append([]any{sha1Hex(stored), field, ends, indexed}, others...),
	}
}

// encode is the text that a value was read from: there is but one.
func encode(value string) string { return base64.StdEncoding.EncodeToString([]byte(value)) }

func sha1Hex(s string) string {
	sum := sha1.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// retireQuarantines deletes what rewriting rows in place has put aside.
func (m *migration) retireQuarantines(ctx context.Context, items []item) error {
	for i := range items {
		it := &items[i]
		it.count.Found++
		if err := m.retireQuarantine(ctx, it); err != nil {
			return err
		}
	}
	return nil
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
	for rank := range it.members {
		members, err := m.rdb.ZRange(ctx, it.RedisKey, rank, rank).Result()
		if err != nil {
			return storeerr.FromRedis(err, storeerr.Reads, "reading "+quote(it.RedisKey))
		}
		if len(members) == 0 {
			return keep("it changed while it was looked at")
		}
		_, _, untagged := legacy.DecodeMember(members[0])
		if _, err := opaque.DecodeMember(members[0]); err != nil && untagged != nil {
			return keep("it holds members that do not decode")
		}
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
