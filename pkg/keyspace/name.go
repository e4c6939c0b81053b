// Package keyspace tells what the raw keys of a Redis are: which store one
// belongs to, which part it plays there and in which layout. [Identify] goes
// by the name alone and asks nobody; [Discover] walks a server and lists the
// stores that it finds.
//
// The names are those of docs/storage.md, and of the older layouts that may be
// found beside them.
package keyspace

// Store is one of the three stores, or Foreign.
type Store string

// The stores.
const (
	Foreign Store = "" // no key of ours
	Opaque  Store = "opaque"
	Blob    Store = "blob"
	Warm    Store = "warm"
)

// Layout is a way in which a store keeps, or once kept, its data.
type Layout string

// The layouts. Untagged and Mixed share their keys with Current, and no name
// tells them: the members do.
const (
	Current            Layout = "current"
	OpaqueV1           Layout = "opaque-v1"            // {prefix}:{zlink-location-opaque-v1}:…
	Tagless            Layout = "tagless"              // {prefix}:opaque:<hex of the key>
	RelocationOpaqueV1 Layout = "relocation-opaque-v1" // {prefix}:{zlink-relocation-opaque-v1}:blob:<sha256>
	Payload            Layout = "payload"              // {prefix}:payload:{reference}
	PlainBlob          Layout = "plain-blob"           // {prefix}:blob:{reference}
	RelocationRoot     Layout = "relocation-root"      // {prefix}:{relocation}:root:{reference}
	Untagged           Layout = "v3-untagged"          // rows whose members have no format tag
	Mixed              Layout = "mixed"                // rows of Current and of Untagged in one store
)

// Role is the part that a key plays in its store.
type Role string

// The roles. Unknown is a key under the name of a store that is none of its
// keys.
const (
	Unknown          Role = "unknown"
	Row              Role = "row"
	Index            Role = "index"
	Map              Role = "map"
	Cleanup          Role = "cleanup"
	Sequence         Role = "sequence"
	SnapshotExpiry   Role = "snapshot-expiry"
	SnapshotBoundary Role = "snapshot-boundary"
	Snapshot         Role = "snapshot"
	Quarantine       Role = "quarantine"
	BlobValue        Role = "blob"
	Chunk            Role = "chunk"
	SegmentIndex     Role = "segment-index"
	Record           Role = "record"          // a row of opaque-v1 or tagless
	VersionCounter   Role = "version-counter" // of opaque-v1 or tagless
)

// Name is what the name of a Redis key says. Fields that it does not say are
// empty.
type Name struct {
	Store  Store
	Layout Layout
	Role   Role
	// Certain: no other kind of key has such a name. The layouts Tagless,
	// Payload and PlainBlob have no mark, so only the type and the content of
	// the key can confirm them.
	Certain bool

	Prefix     string
	Key        string  // logical key, or reference of a blob
	SHA256     string  // lower-case hex, of the logical key or reference
	SnapshotID string  // of a snapshot's own record
	Namespace  *string // of a warm key; nil is the absent namespace
	Segment    string  // of a warm key
	Chunk      uint16  // of a Chunk
}

// Type returns the Redis type that such a key has, as TYPE says it: the empty
// string for Unknown.
func (n Name) Type() string {
	switch n.Role {
	case Row, Cleanup, SnapshotExpiry, SnapshotBoundary, Quarantine, SegmentIndex:
		return "zset"
	case Map, Chunk, Record:
		return "hash"
	case Sequence, VersionCounter:
		return "string"
	case Index:
		if n.Layout == OpaqueV1 {
			return "hash"
		}
		return "zset"
	case Snapshot:
		if n.Layout == OpaqueV1 {
			return "list"
		}
		return "hash"
	case BlobValue:
		if n.Layout == RelocationOpaqueV1 {
			return "hash"
		}
		return "string"
	}
	return ""
}
