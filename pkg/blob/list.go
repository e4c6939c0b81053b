package blob

// Listing: every blob of a store, found by SCAN.

import (
	"context"
	"crypto/sha256"
	"errors"
	"iter"
	"unicode/utf8"

	"github.com/keyspacectl/keyspacectl/pkg/servers"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// List yields the blobs whose references begin with a prefix, which may be
// empty, in no order and each once. A blob that is there all the while is
// listed; one that comes or goes meanwhile may be. It remembers about 40 bytes
// a blob to list none twice.
//
// A key that is no blob is yielded as storeerr.Integrity with its Reference,
// and the listing goes on. Any other error is the last thing yielded.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		l := listing{store: s, begin: s.Key(prefix), seen: map[fingerprint]struct{}{}, yield: yield}
		if err := servers.Keys(ctx, s.rdb, l.begin, l.page); err != nil && !errors.Is(err, errStop) {
			yield(Info{}, storeerr.FromRedis(err, storeerr.Reads, "listing blobs"))
		}
	}
}

// fingerprint stands for a reference of up to 4 KiB in what List remembers.
type fingerprint [16]byte

type listing struct {
	store *Store
	begin string // of every key that is asked for
	seen  map[fingerprint]struct{}
	yield func(Info, error) bool
}

// errStop says that the reader has seen enough.
var errStop = errors.New("stop")

// unseen returns the keys that were not listed before, or all where that is
// not remembered.
func (l *listing) unseen(keys []string) []string {
	if l.seen == nil {
		return keys
	}
	fresh := keys[:0]
	for _, key := range keys {
		sum := sha256.Sum256([]byte(key))
		mark := fingerprint(sum[:])
		if _, listed := l.seen[mark]; !listed {
			l.seen[mark] = struct{}{}
			fresh = append(fresh, key)
		}
	}
	return fresh
}

// page yields the sizes and expiries of keys, as of one moment.
func (l *listing) page(ctx context.Context, keys []string) error {
	if keys = l.unseen(keys); len(keys) == 0 {
		return nil
	}
	now, all, err := l.store.facts(ctx, keys, frameMagicBytes)
	if err != nil {
		return err
	}
	for i, f := range all {
		if f.ttl == noKey {
			continue
		}
		info := Info{Reference: keys[i][len(l.store.domain):], ExpiresAt: expiry(now, f.ttl), Now: now}
		err := l.store.checkListed(info.Reference, f.foreign)
		if err == nil {
			info.Size, info.Kind = f.size, kindOf([]byte(f.head))
		}
		if !l.yield(info, err) {
			return errStop
		}
	}
	return nil
}

// checkListed names what is wrong with a key found under the store's own name.
func (s *Store) checkListed(reference string, foreign bool) error {
	if foreign {
		return s.foreign(reference)
	}
	if reference == "" || len(reference) > MaxReferenceBytes || !utf8.ValidString(reference) {
		return storeerr.New(storeerr.Integrity, "the key's reference %q is none: 1 to %d bytes of UTF-8", reference, MaxReferenceBytes).AtKey(s.Key(reference))
	}
	return nil
}
