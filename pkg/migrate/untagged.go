// The rows of v3 untagged, whose keys are those of the current layout.

package migrate

import (
	"context"
	"strings"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/legacy"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// maxMoved bounds the members that one script copies, where some of the row were
// put aside before.
const maxMoved = 1024

// untagged makes an item of a row, or a quarantine, by its newest member.
func (m *migration) untagged(key legacy.Key, now, members int64, score, newest string) item {
	it := item{
		Reading: legacy.Reading{Key: key, Now: now, Found: true}, count: m.count(keyspace.Untagged, keyspace.Opaque),
		members: members, score: score, sha1: sha1Hex(newest),
	}
	member, ambiguous, err := legacy.DecodeMember(newest)
	if err == nil && !strings.HasSuffix(m.oldKeys.Row(member.Key), key.SHA256) {
		err = errAnotherKey
	}
	if err != nil {
		it.Err = storeerr.New(storeerr.Integrity, "no row of layout %s: %w", keyspace.Untagged, err).AtKey(key.RedisKey)
		return it
	}
	it.tombstone, it.version = member.Tombstone, member.Version
	it.Record = legacy.Record{Key: member.Key, Value: member.Value, Version: member.Version, ExpiresAt: member.ExpiresAt}
	m.decodeValue(&it, ambiguous)
	return it
}

// decodeValue makes bytes of a value that is said to be text.
func (m *migration) decodeValue(it *item, ambiguous bool) {
	if it.Record.Value == "" {
		return
	}
	it.ambiguous, it.notBase64 = ambiguous, !ambiguous
	if m.Values != Base64 {
		return
	}
	value, err := legacy.DecodeBase64(it.Record.Value)
	if err != nil {
		it.Err = storeerr.New(storeerr.Integrity, "the value of key %q: %w", it.Record.Key, err).AtKey(it.RedisKey)
		return
	}
	it.Record.Value = value
}

var errAnotherKey = storeerr.New(storeerr.Integrity, "it holds a record of another key")

// takeUntagged judges untagged rows and does what the mode says.
func (m *migration) takeUntagged(ctx context.Context, items []item) error {
	if m.From != m.To {
		return m.takeRows(ctx, items)
	}
	for i := range items {
		it := &items[i]
		// Expired and deleted rows too: other drivers cannot collect them as
		// they are.
		if m.judgeStaying(it); it.state == ready && m.mode == applies {
			if err := m.retag(ctx, it); err != nil {
				return err
			}
		}
		if it.state == ready && m.mode == retires {
			it.count.Kept++
			m.problem(storeerr.New(storeerr.Conflict, "kept: the row of key %q is not rewritten yet", it.Record.Key).AtKey(it.RedisKey))
		}
		it.tally()
		if it.state == done {
			it.count.Done--
			it.count.Written++
		}
	}
	return nil
}

// judgeStaying judges a row that stays where it is.
func (m *migration) judgeStaying(it *item) {
	if it.Err != nil {
		m.damage(it, it.Err)
		return
	}
	if m.checkRow(it); it.state != unjudged {
		return
	}
	if len(it.version) > opaque.MaxVersionBytes {
		m.outOfLimits(it, "the version of key %q has %d bytes, the limit is %d", it.Record.Key, len(it.version), opaque.MaxVersionBytes)
		return
	}
	it.state = ready
	m.raise(it)
}

// leave leaves a row for the next run.
func (m *migration) leave(it *item, format string, args ...any) {
	it.state = left
	m.problem(storeerr.New(storeerr.Conflict, "left: "+format, args...).AtKey(it.RedisKey))
}

// retag gives a row its tag in place.
func (m *migration) retag(ctx context.Context, it *item) error {
	k := m.oldKeys
	version := it.version
	if version == "" {
		// Only tombstones have none. Their score is what a script would have
		// called them.
		version = it.score
	}
	r := it.Record
	member := opaque.Member{Key: r.Key, Value: r.Value, Version: version, ExpiresAt: r.ExpiresAt, Tombstone: it.tombstone}
	keys := []string{
		it.RedisKey, k.Quarantine(r.Key), k.Index(), k.Map(), k.Cleanup(), k.SnapshotExpiry(), k.SnapshotBoundary(),
	}
	reply, err := luascripts.Must("opaque_retag").Run(ctx, m.rdb, keys, r.Key, it.sha1, member.Append(nil), maxMoved).Text()
	if err != nil {
		return storeerr.FromRedis(err, storeerr.Writes, "rewriting row "+quote(r.Key))
	}
	switch reply {
	case "retagged":
		it.state = done
	case "changed":
		m.leave(it, "the row of key %q changed while it was looked at", r.Key)
	case "snapshot":
		m.leave(it, "an open snapshot reads an older version of key %q", r.Key)
	default:
		m.damage(it, storeerr.New(storeerr.Integrity, "the row of key %q: %s", r.Key, reply).AtKey(it.RedisKey))
	}
	return nil
}
