// Package warm drives the warm store: the chunks of segments under optimistic
// concurrency. A write names the token that it expects and brings a new one.
//
// Applications in other languages work on the same keys at the same time; the
// bytes and the rules are those of docs/storage.md. The store takes
// payloads as bytes; [DecodeDelta] reads those that are bitmap deltas.
//
// Every error is, in its chain, a *storeerr.Error. A client that resends
// writes by itself can turn a lost answer into a conflict with the write
// itself: set MaxRetries to -1 where an exact UnknownOutcome matters.
package warm

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// The limits of the warm store. What is beyond one is storeerr.Invalid, and
// nothing is sent.
const (
	MaxChunks    = 1 << 16 // a segment has chunks 0 to 65,535
	MaxNameBytes = 256     // a namespace or segment has 1 to 256 bytes

	// MaxPayloadBytes is the longest payload written: that of the longest
	// delta (two halves of 1 MiB after a head of 5 bytes), since no reader of
	// deltas takes more. Reading knows no limit.
	MaxPayloadBytes = deltaHeadBytes + 2*maxHalfBytes
)

// defaultNamespace stands in keys for the absent namespace. No user may name it.
const defaultNamespace = "_default"

// Segment names a segment. The empty Namespace is the absent one.
type Segment struct {
	Namespace string
	Name      string
}

// Check returns storeerr.Invalid unless both names begin with a letter or a
// digit, go on with letters, digits, dot, underscore and hyphen, hold no two
// dots in a row and are at most 256 bytes long. The namespace may be empty.
func (s Segment) Check() error {
	if s.Namespace != "" && !isName(s.Namespace) {
		return invalidName("namespace", s.Namespace)
	}
	if !isName(s.Name) {
		return invalidName("segment", s.Name)
	}
	return nil
}

// String returns namespace/name, or the name alone.
func (s Segment) String() string {
	if s.Namespace == "" {
		return s.Name
	}
	return s.Namespace + "/" + s.Name
}

func invalidName(what, name string) error {
	return storeerr.New(storeerr.Invalid, "the %s %q is no valid name", what, name).
		WithHint("a name is 1 to %d letters, digits, '.', '_' and '-', begins with a letter or a digit and has no '..'", MaxNameBytes)
}

func isName(s string) bool {
	if s == "" || len(s) > MaxNameBytes || strings.Contains(s, "..") {
		return false
	}
	for i := range len(s) {
		c := s[i]
		alphanumeric := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !alphanumeric && (i == 0 || c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return true
}

// Store is one warm store: a prefix on a server. It is safe for concurrent use.
type Store struct {
	rdb    redis.UniversalClient
	prefix string
}

// New returns the store of a prefix, which may be empty. It holds none of
// { } | : and no control characters, else the error is storeerr.Invalid.
// Nothing is sent.
func New(rdb redis.UniversalClient, prefix string) (*Store, error) {
	if strings.ContainsAny(prefix, "{}|:") || strings.ContainsFunc(prefix, unicode.IsControl) {
		return nil, storeerr.New(storeerr.Invalid, "the prefix %q holds one of { } | : or a control character", prefix)
	}
	return &Store{rdb: rdb, prefix: prefix}, nil
}

// tag begins every key of a segment and is its hash tag in a Redis Cluster.
func (s *Store) tag(seg Segment) string {
	namespace := seg.Namespace
	if namespace == "" {
		namespace = defaultNamespace
	}
	return "{" + s.prefix + "|" + namespace + "|" + seg.Name + "}"
}

// ChunkKey returns the Redis key of a chunk.
func (s *Store) ChunkKey(seg Segment, chunk uint16) string {
	return s.tag(seg) + "c:" + strconv.Itoa(int(chunk))
}

// IndexKey returns the Redis key of a segment's index.
func (s *Store) IndexKey(seg Segment) string { return s.tag(seg) + indexSuffix }

const indexSuffix = "idx"

// parseIndexKey is the inverse of IndexKey, and tells whether key is one of
// this store.
func (s *Store) parseIndexKey(key string) (Segment, bool) {
	inner, ok := strings.CutPrefix(key, "{"+s.prefix+"|")
	if !ok {
		return Segment{}, false
	}
	inner, ok = strings.CutSuffix(inner, "}"+indexSuffix)
	if !ok {
		return Segment{}, false
	}
	namespace, name, ok := strings.Cut(inner, "|")
	if !ok || namespace == "" {
		return Segment{}, false
	}
	if namespace == defaultNamespace {
		namespace = ""
	}
	seg := Segment{Namespace: namespace, Name: name}
	return seg, seg.Check() == nil
}

// Chunk is one row of a segment.
type Chunk struct {
	Segment Segment
	Number  uint16
	Token   string // changes with every write
	Size    int64  // bytes of the payload
	Payload []byte // nil when it was not asked for
}

// Mismatch is the cause of a conflict: what was there in place of the
// expected. Reach it with errors.As.
type Mismatch struct {
	Missing bool   // there is no such chunk
	Token   string // the token there; empty in a damaged chunk
}

// Error returns the mismatch in words.
func (m *Mismatch) Error() string {
	switch {
	case m.Missing:
		return "it does not exist"
	case m.Token == "":
		return "it exists, without a token"
	}
	return "it has token " + m.Token
}
