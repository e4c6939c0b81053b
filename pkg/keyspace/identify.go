// Parsing: from the name of a Redis key to what it says.

package keyspace

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// Identify tells what a Redis key is by its name. Where several readings are
// possible ([Readings]) it is the first; a key that is none of ours has the
// Store Foreign.
func Identify(redisKey string) Name {
	if readings := Readings(redisKey); len(readings) > 0 {
		return readings[0]
	}
	return Name{}
}

// Readings returns everything that a Redis key can be by its name: nothing, one
// certain reading, or at most three that only the type and the content of the
// key can decide between. References and prefixes hold colons, so that
// "app:payload:x:opaque:61" is a payload or a row, depending on its type.
func Readings(redisKey string) []Name {
	if name, ok := warmName(redisKey); ok {
		return []Name{name}
	}
	if name, ok := markedName(redisKey); ok {
		return []Name{name}
	}
	return looseNames(redisKey)
}

// Under returns what a Redis key can be in a store of a prefix that is known.
// [Readings] takes the first colon that fits as the end of the prefix, so that
// it does not tell every prefix that holds colons.
func Under(prefix, redisKey string) []Name {
	rest, ok := strings.CutPrefix(redisKey, prefix+":")
	if !ok || !isPrefix(prefix) {
		return nil
	}
	const standIn = "p"
	var names []Name
	for _, n := range Readings(standIn + ":" + rest) {
		if n.Prefix == standIn {
			n.Prefix = prefix
			names = append(names, n)
		}
	}
	return names
}

// marks are what stands behind "{prefix}:" in the names that tell for certain,
// and how the rest of them is read.
var marks = [...]struct {
	mark   string
	store  Store
	layout Layout
	read   func(*Name, string)
}{
	{"{zlink-location-v3}:opaque:", Opaque, Current, (*Name).readOpaque},
	{"{zlink-location-v3}:opaque-quarantine:", Opaque, Current, (*Name).readQuarantine},
	{"{zlink-relocation-v1}:blob:", Blob, Current, (*Name).readReference},
	{"{zlink-location-opaque-v1}:", Opaque, OpaqueV1, (*Name).readOpaqueV1},
	{"{zlink-relocation-opaque-v1}:blob:", Blob, RelocationOpaqueV1, (*Name).readBlobDigest},
	{"{relocation}:root:", Blob, RelocationRoot, (*Name).readReference},
}

// markedName reads the names with a mark in braces.
func markedName(redisKey string) (Name, bool) {
	// A prefix holds no brace, so the first one begins the mark whatever a
	// reference holds.
	at := strings.IndexByte(redisKey, '{')
	if at < 2 || redisKey[at-1] != ':' || strings.Contains(redisKey[:at], "}") {
		return Name{}, false
	}
	for i := range marks {
		m := &marks[i]
		if rest, ok := strings.CutPrefix(redisKey[at:], m.mark); ok {
			n := Name{Store: m.store, Layout: m.layout, Role: Unknown, Certain: true, Prefix: redisKey[:at-1]}
			m.read(&n, rest)
			return n, true
		}
	}
	return Name{}, false
}

func (n *Name) readOpaque(rest string) {
	switch rest {
	case "index", "map", "cleanup", "sequence", "snapshot-expiry", "snapshot-boundary":
		n.Role = Role(rest)
		return
	}
	n.readSnapshot(rest)
	n.readDigest(Row, rest)
}

func (n *Name) readOpaqueV1(rest string) {
	switch rest {
	case "index":
		n.Role = Index
		return
	case "version":
		n.Role = VersionCounter
		return
	}
	n.readSnapshot(rest)
	if sum, ok := strings.CutPrefix(rest, "record:"); ok {
		n.readDigest(Record, sum)
	}
}

func (n *Name) readSnapshot(rest string) {
	if id, ok := strings.CutPrefix(rest, "scan:"); ok && id != "" {
		n.Role, n.SnapshotID = Snapshot, id
	}
}

func (n *Name) readQuarantine(rest string) { n.readDigest(Quarantine, rest) }

func (n *Name) readBlobDigest(rest string) { n.readDigest(BlobValue, rest) }

// readDigest gives the name a role, if the rest of it is a SHA-256.
func (n *Name) readDigest(role Role, rest string) {
	if len(rest) == 64 && isLowerHex(rest) {
		n.Role, n.SHA256 = role, rest
	}
}

// readReference makes the name that of a blob, if the rest of it can be a
// reference.
func (n *Name) readReference(rest string) {
	if rest != "" && len(rest) <= blob.MaxReferenceBytes && utf8.ValidString(rest) {
		n.Role, n.Key = BlobValue, rest
	}
}

func isLowerHex(s string) bool {
	return strings.Trim(s, "0123456789abcdef") == ""
}

// looseNames reads the names without a mark. A prefix may hold colons, and a
// reference anything: of a blob the shortest prefix is taken, of a row the
// longest, since hex holds no colon.
func looseNames(redisKey string) (names []Name) {
	for _, kind := range []struct {
		mark   string
		layout Layout
	}{{":payload:", Payload}, {":blob:", PlainBlob}} {
		prefix, ref, ok := strings.Cut(redisKey, kind.mark)
		n := Name{Store: Blob, Layout: kind.layout, Prefix: prefix}
		if !ok || !isPrefix(prefix) {
			continue
		}
		if n.readReference(ref); n.Role == BlobValue {
			names = append(names, n)
		}
	}
	const mark = ":opaque:"
	at := strings.LastIndex(redisKey, mark)
	if at < 0 || !isPrefix(redisKey[:at]) {
		return names
	}
	n := Name{Store: Opaque, Layout: Tagless, Prefix: redisKey[:at]}
	switch rest := redisKey[at+len(mark):]; {
	case rest == "version":
		n.Role = VersionCounter
	case rest != "" && len(rest) <= 2*opaque.MaxKeyBytes:
		key, err := hex.DecodeString(rest)
		if err != nil {
			return names
		}
		n.Role, n.Key = Record, string(key)
	default:
		return names
	}
	return append(names, n)
}

func isPrefix(s string) bool { return s != "" && !strings.ContainsAny(s, "{}") }

// warmName reads {prefix|namespace|segment}c:<chunk> and …idx.
func warmName(redisKey string) (Name, bool) {
	tag, rest, ok := strings.Cut(redisKey, "}")
	if !ok || !strings.HasPrefix(tag, "{") {
		return Name{}, false
	}
	parts := strings.Split(tag[1:], "|")
	if len(parts) != 3 {
		return Name{}, false
	}
	if _, err := warm.New(nil, parts[0]); err != nil {
		return Name{}, false
	}
	n := Name{Store: Warm, Layout: Current, Role: Unknown, Certain: true, Prefix: parts[0], Segment: parts[2]}
	if parts[1] != "_default" {
		if parts[1] == "" {
			return Name{}, false
		}
		n.Namespace = &parts[1]
	}
	segment := warm.Segment{Name: n.Segment}
	if n.Namespace != nil {
		segment.Namespace = *n.Namespace
	}
	if segment.Check() != nil {
		return Name{}, false
	}
	if rest == "idx" {
		n.Role = SegmentIndex
		return n, true
	}
	number, ok := strings.CutPrefix(rest, "c:")
	if !ok {
		return Name{}, false
	}
	if chunk, err := strconv.ParseUint(number, 10, 16); err == nil && strconv.FormatUint(chunk, 10) == number {
		n.Role, n.Chunk = Chunk, uint16(chunk)
	}
	return n, true
}
