// Package blob drives the blob store: immutable payloads that expire.
//
// Applications in other languages work on the same keys at the same time; the
// bytes and the rules are those of docs/storage.md. Times are
// milliseconds since the epoch, always of the server's clock; retentions are
// milliseconds too, because the longest ones exceed a time.Duration.
//
// Every error is, in its chain, a *storeerr.Error. A client that resends
// writes by itself can hide that an answer was lost: set MaxRetries to -1
// where an exact UnknownOutcome matters.
package blob

import (
	"strings"
	"unicode/utf8"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// The limits of the blob store. What is beyond one is storeerr.Invalid, and
// nothing is sent.
const (
	MaxReferenceBytes = 4096        // a reference has 1 to 4,096 bytes of UTF-8
	MaxPayloadBytes   = 64<<20 + 23 // a payload has at most 67,108,887 bytes
	MaxRetention      = 1<<53 - 1   // a retention is 1 to 2^53−1 ms
)

// Store is one blob store: a prefix on a server. It is safe for concurrent use.
type Store struct {
	rdb    redis.UniversalClient
	domain string // what stands before the reference in a key
}

// New returns the store of a prefix. The prefix is non-empty and holds no
// brace, else the error is storeerr.Invalid. Nothing is sent.
func New(rdb redis.UniversalClient, prefix string) (*Store, error) {
	if prefix == "" {
		return nil, storeerr.New(storeerr.Invalid, "the prefix is empty")
	}
	if strings.ContainsAny(prefix, "{}") {
		return nil, storeerr.New(storeerr.Invalid, "the prefix %q holds a brace", prefix)
	}
	return &Store{rdb: rdb, domain: prefix + ":{zlink-relocation-v1}:blob:"}, nil
}

// Key returns the Redis key of a reference.
func (s *Store) Key(reference string) string { return s.domain + reference }

// Outcome says what an operation found or did.
type Outcome string

// The outcomes.
const (
	Stored        Outcome = "stored"         // the blob did not exist and does now
	AlreadyStored Outcome = "already_stored" // exactly these bytes were there; the expiry is as it was
	Renewed       Outcome = "renewed"        // the expiry is now + retention
	Deleted       Outcome = "deleted"        // the blob was there and is gone
	Missing       Outcome = "missing"        // there was nothing to delete
)

// Result is what a write did.
type Result struct {
	Outcome   Outcome
	ExpiresAt int64 // ms since the epoch; 0 = the blob has no expiry, or is gone
	Now       int64 // the server's time in ms since the epoch
}

// Info is what is known of a blob without its payload.
type Info struct {
	Reference string
	Size      int64 // bytes
	Kind      Kind  // what it begins as
	ExpiresAt int64 // ms since the epoch; 0 = no expiry
	Now       int64 // the server's time in ms since the epoch, when this was read
}

func checkReference(reference string) error {
	switch {
	case reference == "":
		return storeerr.New(storeerr.Invalid, "the reference is empty")
	case len(reference) > MaxReferenceBytes:
		return storeerr.New(storeerr.Invalid, "the reference has %d bytes, the limit is %d", len(reference), MaxReferenceBytes)
	case !utf8.ValidString(reference):
		return storeerr.New(storeerr.Invalid, "the reference %q is no UTF-8", reference)
	}
	return nil
}

func checkPayload(payload []byte) error {
	if len(payload) > MaxPayloadBytes {
		return storeerr.New(storeerr.Invalid, "the payload has %d bytes, the limit is %d", len(payload), MaxPayloadBytes)
	}
	return nil
}

func checkRetention(ms int64) error {
	if ms < 1 || ms > MaxRetention {
		return storeerr.New(storeerr.Invalid, "a retention is 1 to %d ms, not %d", int64(MaxRetention), ms)
	}
	return nil
}

// expiry turns what PTTL says at a moment into a moment. Both numbers are at
// most 2^53, so the sum fits.
func expiry(now, ttl int64) int64 {
	if ttl < 0 {
		return 0
	}
	return now + ttl
}

func (s *Store) foreign(reference string) error {
	return storeerr.New(storeerr.Integrity, "blob %q is no string", reference).AtKey(s.Key(reference))
}

func missing(reference string) error {
	return storeerr.New(storeerr.NotFound, "there is no blob %q", reference)
}
