// Tests of reading names: every key of the stores and of the older layouts,
// names that only look like them, and the way back.
package keyspace_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

const sum = "185fddc53e7d37a469186a603c145f18a9c00175de5be59aa1813448debb4623"

func TestIdentify(t *testing.T) {
	t.Parallel()
	eu := "eu"
	v3 := func(role keyspace.Role) keyspace.Name {
		return keyspace.Name{Store: keyspace.Opaque, Layout: keyspace.Current, Role: role, Certain: true, Prefix: "app"}
	}
	v1 := func(role keyspace.Role) keyspace.Name {
		n := v3(role)
		n.Layout = keyspace.OpaqueV1
		return n
	}
	with := func(n keyspace.Name, change func(*keyspace.Name)) keyspace.Name {
		change(&n)
		return n
	}
	blobOf := func(layout keyspace.Layout, ref string, certain bool) keyspace.Name {
		return keyspace.Name{Store: keyspace.Blob, Layout: layout, Role: keyspace.BlobValue, Certain: certain, Prefix: "app", Key: ref}
	}
	warmOf := func(prefix string, role keyspace.Role, ns *string, chunk uint16) keyspace.Name {
		return keyspace.Name{
			Store: keyspace.Warm, Layout: keyspace.Current, Role: role, Certain: true,
			Prefix: prefix, Namespace: ns, Segment: "users", Chunk: chunk,
		}
	}
	tagless := keyspace.Name{Store: keyspace.Opaque, Layout: keyspace.Tagless, Role: keyspace.Record, Prefix: "app", Key: "a"}
	for key, want := range map[string]keyspace.Name{
		"app:{zlink-location-v3}:opaque:index":             v3(keyspace.Index),
		"app:{zlink-location-v3}:opaque:map":               v3(keyspace.Map),
		"app:{zlink-location-v3}:opaque:cleanup":           v3(keyspace.Cleanup),
		"app:{zlink-location-v3}:opaque:sequence":          v3(keyspace.Sequence),
		"app:{zlink-location-v3}:opaque:snapshot-expiry":   v3(keyspace.SnapshotExpiry),
		"app:{zlink-location-v3}:opaque:snapshot-boundary": v3(keyspace.SnapshotBoundary),
		"app:{zlink-location-v3}:opaque:" + sum:            with(v3(keyspace.Row), func(n *keyspace.Name) { n.SHA256 = sum }),
		"app:{zlink-location-v3}:opaque-quarantine:" + sum: with(v3(keyspace.Quarantine), func(n *keyspace.Name) { n.SHA256 = sum }),
		"app:{zlink-location-v3}:opaque:scan:a:b":          with(v3(keyspace.Snapshot), func(n *keyspace.Name) { n.SnapshotID = "a:b" }),
		"a:b:{zlink-location-v3}:opaque:map":               with(v3(keyspace.Map), func(n *keyspace.Name) { n.Prefix = "a:b" }),

		// Under the name of a store, and none of its keys.
		"app:{zlink-location-v3}:opaque:":                                v3(keyspace.Unknown),
		"app:{zlink-location-v3}:opaque:scan:":                           v3(keyspace.Unknown),
		"app:{zlink-location-v3}:opaque:" + strings.ToUpper(sum):         v3(keyspace.Unknown),
		"app:{zlink-location-v3}:opaque:" + sum[1:]:                      v3(keyspace.Unknown),
		"app:{zlink-location-v3}:opaque-quarantine:":                     v3(keyspace.Unknown),
		"app:{zlink-relocation-v1}:blob:":                                with(blobOf(keyspace.Current, "", true), func(n *keyspace.Name) { n.Role = keyspace.Unknown }),
		"app:{zlink-relocation-v1}:blob:\xff":                            with(blobOf(keyspace.Current, "", true), func(n *keyspace.Name) { n.Role = keyspace.Unknown }),
		"app:{zlink-relocation-v1}:blob:" + strings.Repeat("x", 4097):    with(blobOf(keyspace.Current, "", true), func(n *keyspace.Name) { n.Role = keyspace.Unknown }),
		"app:{zlink-relocation-v1}:blob:" + strings.Repeat("x", 4096):    blobOf(keyspace.Current, strings.Repeat("x", 4096), true),
		"app:{zlink-relocation-v1}:blob:{zlink-location-v3}:opaque:map":  blobOf(keyspace.Current, "{zlink-location-v3}:opaque:map", true),
		"app:{zlink-relocation-v1}:blob:x:{zlink-location-v3}:opaque:ma": blobOf(keyspace.Current, "x:{zlink-location-v3}:opaque:ma", true),

		"app:{zlink-location-opaque-v1}:index":         v1(keyspace.Index),
		"app:{zlink-location-opaque-v1}:version":       v1(keyspace.VersionCounter),
		"app:{zlink-location-opaque-v1}:scan:u-1":      with(v1(keyspace.Snapshot), func(n *keyspace.Name) { n.SnapshotID = "u-1" }),
		"app:{zlink-location-opaque-v1}:record:" + sum: with(v1(keyspace.Record), func(n *keyspace.Name) { n.SHA256 = sum }),
		"app:{zlink-location-opaque-v1}:record:x":      v1(keyspace.Unknown),

		"app:{zlink-relocation-opaque-v1}:blob:" + sum: with(blobOf(keyspace.RelocationOpaqueV1, "", true), func(n *keyspace.Name) { n.SHA256 = sum }),
		"app:{relocation}:root:a:{b}":                  blobOf(keyspace.RelocationRoot, "a:{b}", true),
		"app:payload:a:{b}":                            blobOf(keyspace.Payload, "a:{b}", false),
		"app:blob:blob:a":                              blobOf(keyspace.PlainBlob, "blob:a", false),
		"app:opaque:61":                                tagless,
		"app:opaque:opaque:61":                         with(tagless, func(n *keyspace.Name) { n.Prefix = "app:opaque" }),
		"app:opaque:version":                           with(tagless, func(n *keyspace.Name) { n.Role, n.Key = keyspace.VersionCounter, "" }),

		"{app|eu|users}c:65535":     warmOf("app", keyspace.Chunk, &eu, 65535),
		"{|_default|users}c:0":      warmOf("", keyspace.Chunk, nil, 0),
		"{app|_default|users}idx":   warmOf("app", keyspace.SegmentIndex, nil, 0),
		"{app|_default|users}c:007": warmOf("app", keyspace.Unknown, nil, 0),
		"{app|eu|users}c:65536":     warmOf("app", keyspace.Unknown, &eu, 0),

		// Foreign, however near.
		"": {}, "app": {}, "{": {}, "}": {}, "{}": {}, "{||}idx": {}, "{a:b|eu|users}idx": {}, "{app|eu|users}": {},
		"{app|eu|users}other": {}, "{app|..|users}idx": {}, "{app|_x|users}idx": {}, "{app||users}idx": {}, "{app|a|b|c}idx": {},
		":{zlink-location-v3}:opaque:index": {}, "{zlink-location-v3}:opaque:index": {},
		"a}b:{zlink-location-v3}:opaque:index": {}, "app:{zlink-location-v4}:opaque:index": {},
		":opaque:61": {}, "app:opaque:6": {}, "app:opaque:6G": {}, "app:opaque:": {}, "app:opaque:" + strings.Repeat("61", 1025): {},
		":blob:x": {}, "app:blob:": {}, "a{b:payload:x": {}, "app:payload:\xff": {},
	} {
		if got := keyspace.Identify(key); !reflect.DeepEqual(got, want) {
			t.Errorf("%q is\n%+v, want\n%+v", key, got, want)
		}
	}
}

func TestReadings(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"app:other":                           "",
		"app:{zlink-relocation-v1}:blob:x":    "current blob string;",
		"app:payload:x:opaque:61":             "payload blob string;tagless record hash;",
		"app:opaque:61:blob:x:payload:y":      "payload blob string;plain-blob blob string;",
		"app:payload:blob:x:blob:opaque:6162": "payload blob string;plain-blob blob string;tagless record hash;",
	} {
		var got string
		for _, n := range keyspace.Readings(key) {
			got += fmt.Sprint(n.Layout, " ", n.Role, " ", n.Type(), ";")
		}
		if got != want {
			t.Errorf("%q reads %q, want %q", key, got, want)
		}
	}
}

// rebuilt is the key that a name of the current layout has, by the stores.
func rebuilt(t *testing.T, n keyspace.Name) string {
	t.Helper()
	switch n.Store {
	case keyspace.Blob:
		store, err := blob.New(nil, n.Prefix)
		if err != nil {
			t.Fatal(err)
		}
		return store.Key(n.Key)
	case keyspace.Warm:
		store, err := warm.New(nil, n.Prefix)
		if err != nil {
			t.Fatal(err)
		}
		segment := warm.Segment{Name: n.Segment}
		if n.Namespace != nil {
			segment.Namespace = *n.Namespace
		}
		if n.Role == keyspace.SegmentIndex {
			return store.IndexKey(segment)
		}
		return store.ChunkKey(segment, n.Chunk)
	}
	keys, err := opaque.NewKeys(n.Prefix)
	if err != nil {
		t.Fatal(err)
	}
	switch n.Role {
	case keyspace.Index:
		return keys.Index()
	case keyspace.Map:
		return keys.Map()
	case keyspace.Cleanup:
		return keys.Cleanup()
	case keyspace.Sequence:
		return keys.Sequence()
	case keyspace.SnapshotExpiry:
		return keys.SnapshotExpiry()
	case keyspace.SnapshotBoundary:
		return keys.SnapshotBoundary()
	case keyspace.Snapshot:
		return keys.Scan(n.SnapshotID)
	case keyspace.Quarantine:
		row := keys.Row("")
		return strings.TrimSuffix(keys.Quarantine(""), row[len(row)-64:]) + n.SHA256
	}
	return strings.TrimSuffix(keys.Index(), "index") + n.SHA256
}

// FuzzIdentify holds that a name that is read in the current layout is the
// name that the stores give.
func FuzzIdentify(f *testing.F) {
	for _, key := range []string{
		"", "app:{zlink-location-v3}:opaque:index", "app:{zlink-location-v3}:opaque:scan:x",
		"app:{zlink-location-v3}:opaque:" + sum, "app:{zlink-location-v3}:opaque-quarantine:" + sum,
		"app:{zlink-relocation-v1}:blob:a:{b}", "{app|eu|users}c:7", "{|_default|users}idx",
		"app:{zlink-location-opaque-v1}:record:" + sum, "app:opaque:61", "app:payload:x", "app:{relocation}:root:x",
	} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		for _, n := range keyspace.Readings(key) {
			if n.Store == keyspace.Foreign || n.Role == "" || n.Layout == "" {
				t.Errorf("%q reads %+v", key, n)
			}
			if n.Layout != keyspace.Current || n.Role == keyspace.Unknown {
				continue
			}
			if got := rebuilt(t, n); got != key {
				t.Errorf("%q reads %+v, and back it is %q", key, n, got)
			}
		}
	})
}

// TestNamesOfStores holds that what the stores name is read as that.
func TestNamesOfStores(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"app", "a:b", "ü", "a:opaque", " "} {
		keys, err := opaque.NewKeys(prefix)
		if err != nil {
			t.Fatal(err)
		}
		blobs, err := blob.New(nil, prefix)
		if err != nil {
			t.Fatal(err)
		}
		for want, key := range map[keyspace.Role]string{
			keyspace.Row: keys.Row("k"), keyspace.Index: keys.Index(), keyspace.Map: keys.Map(), keyspace.Cleanup: keys.Cleanup(),
			keyspace.Sequence: keys.Sequence(), keyspace.SnapshotExpiry: keys.SnapshotExpiry(),
			keyspace.SnapshotBoundary: keys.SnapshotBoundary(), keyspace.Snapshot: keys.Scan("id"), keyspace.BlobValue: blobs.Key("r"),
		} {
			if n := keyspace.Identify(key); n.Role != want || n.Prefix != prefix || !n.Certain {
				t.Errorf("%q is %+v, want %s of prefix %q", key, n, want, prefix)
			}
		}
	}
}

func TestUnder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ prefix, key, want string }{
		{"app", "app:payload:x", "payload app x;"},
		{"a:payload:b", "a:payload:b:payload:x", "payload a:payload:b x;"},
		{"a", "a:payload:b:payload:x", "payload a b:payload:x;"},
		{"app:payload:x", "app:payload:x:opaque:61", "tagless app:payload:x a;"},
		{"app", "app:payload:x:opaque:61", "payload app x:opaque:61;"},
		{"a:b", "a:b:{zlink-relocation-v1}:blob:x", "current a:b x;"},
		{"a", "a:b:{zlink-relocation-v1}:blob:x", ""},
		{"app", "apple:payload:x", ""},
		{"", ":payload:x", ""},
		{"a{", "a{:payload:x", ""},
	} {
		var got string
		for _, n := range keyspace.Under(c.prefix, c.key) {
			got += fmt.Sprint(n.Layout, " ", n.Prefix, " ", n.Key, ";")
		}
		if got != c.want {
			t.Errorf("%q under %q reads %q, want %q", c.key, c.prefix, got, c.want)
		}
	}
}
