// Retiring: deleting old keys that have their equal in the current layout.

package migrate

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"strconv"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
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
			reply := "retired"
			if m.held && it.count.Layout == keyspace.Untagged {
				reply = "snapshot"
			}
			m.retire(it, reply)
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
	if it.count.Layout == keyspace.Untagged {
		k := m.oldKeys
		return luascripts.Call{
			Script: luascripts.Must("opaque_retire"),
			Keys:   []string{it.RedisKey, k.Index(), k.Map(), k.Cleanup(), k.SnapshotExpiry(), k.SnapshotBoundary(), k.Sequence()},
			Args:   []any{it.sha1, it.members, r.Key, m.alone},
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
		Script: luascripts.Must("legacy_retire"), Keys: keys, Args: append([]any{sha1Hex(stored), field, ends, indexed, it.sha1}, others...),
	}
}

// encode is the text that a value was read from: there is but one.
func encode(value string) string { return base64.StdEncoding.EncodeToString([]byte(value)) }

func sha1Hex(s string) string {
	sum := sha1.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}
