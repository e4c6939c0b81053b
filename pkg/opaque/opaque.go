// Package opaque drives the versioned store: keys with versions, tombstones
// and retention, conditional atomic batches, and scans of one moment.
//
// Applications in other languages work on the same keys at the same time; the
// bytes and the rules are those of docs/storage.md. Keys and values
// are opaque bytes, held in Go strings. Times are milliseconds since the
// epoch, always of the server's clock.
//
// Every error is, in its chain, a *storeerr.Error.
package opaque

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// hashTag keeps every key of one store in one slot of a Redis Cluster.
const hashTag = "{zlink-location-v3}"

// Store is one versioned store: a prefix on a server. It is safe for
// concurrent use.
type Store struct {
	rdb  redis.UniversalClient
	keys Keys
}

// New returns the store of a prefix. The prefix is non-empty and holds no
// brace, else the error is storeerr.Invalid. Nothing is sent.
func New(rdb redis.UniversalClient, prefix string) (*Store, error) {
	keys, err := NewKeys(prefix)
	if err != nil {
		return nil, err
	}
	return &Store{rdb: rdb, keys: keys}, nil
}

// Keys returns the names of the store's keys in Redis.
func (s *Store) Keys() Keys { return s.keys }

// Keys names what a store keeps in Redis.
type Keys struct {
	domain string // {prefix}:{zlink-location-v3}:opaque
}

// NewKeys returns the names under a prefix, with the rules of New.
func NewKeys(prefix string) (Keys, error) {
	if prefix == "" {
		return Keys{}, storeerr.New(storeerr.Invalid, "the prefix is empty")
	}
	if strings.ContainsAny(prefix, "{}") {
		return Keys{}, storeerr.New(storeerr.Invalid, "the prefix %q holds a brace", prefix)
	}
	return Keys{domain: prefix + ":" + hashTag + ":opaque"}, nil
}

// Row is the key of a logical key's row.
func (k Keys) Row(key string) string {
	const digits = 2 * sha256.Size
	sum := sha256.Sum256([]byte(key))
	name := make([]byte, 0, len(k.domain)+1+digits)
	name = append(name, k.domain...)
	name = append(name, ':')
	return string(hex.AppendEncode(name, sum[:]))
}

// Quarantine is the key of the sorted set in which members of a row are put
// aside.
func (k Keys) Quarantine(key string) string {
	return k.domain + "-quarantine" + strings.TrimPrefix(k.Row(key), k.domain)
}

// Index is the key of the sorted set of logical keys.
func (k Keys) Index() string { return k.domain + ":index" }

// Map is the key of the hash from logical keys to row keys.
func (k Keys) Map() string { return k.domain + ":map" }

// Cleanup is the key of the queue of what is due for collection.
func (k Keys) Cleanup() string { return k.domain + ":cleanup" }

// Sequence is the key of the counter.
func (k Keys) Sequence() string { return k.domain + ":sequence" }

// SnapshotExpiry is the key that says when each snapshot ends.
func (k Keys) SnapshotExpiry() string { return k.domain + ":snapshot-expiry" }

// SnapshotBoundary is the key that says which sequence each snapshot reads at.
func (k Keys) SnapshotBoundary() string { return k.domain + ":snapshot-boundary" }

// Scan is the key of a snapshot's own record.
func (k Keys) Scan(snapshotID string) string { return k.domain + ":scan:" + snapshotID }
