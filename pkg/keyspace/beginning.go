// Names that begin as those of an older layout, and need not be any.

package keyspace

import "strings"

// beginnings are what stands behind the prefix in the names of records. The
// type is that of a record, empty where the mark alone tells whose the key is.
var beginnings = [...]struct {
	text, kind string
	layout     Layout
}{
	{":{zlink-location-opaque-v1}:", "", OpaqueV1},
	{":opaque:", "hash", Tagless},
	{":{zlink-relocation-opaque-v1}:blob:", "", RelocationOpaqueV1},
	{":payload:", "string", Payload},
	{":blob:", "string", PlainBlob},
	{":{relocation}:root:", "", RelocationRoot},
}

// BeginsAs tells which older layout of a prefix has names that begin as a Redis
// key does, "" for none, and which type a key must have to be meant, "" for any.
func BeginsAs(prefix, redisKey string) (layout Layout, kind string) {
	rest, ok := strings.CutPrefix(redisKey, prefix)
	if !ok {
		return "", ""
	}
	for _, b := range beginnings {
		if strings.HasPrefix(rest, b.text) {
			return b.layout, b.kind
		}
	}
	return "", ""
}
