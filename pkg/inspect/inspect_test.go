// Tests of what is told of raw keys: every role of the stores, the older
// layouts, what is damaged and what is foreign.
package inspect_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/inspect"
	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

const (
	prefix = "app"
	domain = prefix + ":{zlink-location-v3}:opaque:"
	year   = 365 * 24 * time.Hour
)

// fixture is a server with the stores of a prefix.
type fixture struct {
	*testing.T
	rdb    *redis.Client
	opaque *opaque.Store
	blob   *blob.Store
	warm   *warm.Store
}

func newFixture(t *testing.T, s testserver.Server) fixture {
	t.Helper()
	f := fixture{T: t, rdb: s.Client(t)}
	var err error
	if f.opaque, err = opaque.New(f.rdb, prefix); err != nil {
		t.Fatal(err)
	}
	if f.blob, err = blob.New(f.rdb, prefix); err != nil {
		t.Fatal(err)
	}
	if f.warm, err = warm.New(f.rdb, prefix); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f fixture) do(args ...any) {
	f.Helper()
	if err := f.rdb.Do(context.Background(), args...).Err(); err != nil {
		f.Fatalf("%v: %v", args, err)
	}
}

func (f fixture) write(mutations ...opaque.Mutation) {
	f.Helper()
	if _, err := f.opaque.Write(context.Background(), opaque.Batch{Mutations: mutations}); err != nil {
		f.Fatal(err)
	}
}

func (f fixture) snapshot() {
	f.Helper()
	if _, err := f.opaque.OpenSnapshot(context.Background(), ""); err != nil {
		f.Fatal(err)
	}
}

func (f fixture) inspect(key string, limit int) inspect.Report {
	f.Helper()
	r, err := inspect.Key(context.Background(), f.rdb, key, inspect.Options{Limit: limit})
	if err != nil {
		f.Fatalf("inspecting %q: %v", key, err)
	}
	return r
}

// told is a report in a line: what it is, then the parts that it has.
func told(r inspect.Report) string {
	parts := []string{fmt.Sprintf("%s %s %s", r.Name.Store, r.Layout(), r.Name.Role), r.Type, fmt.Sprint(r.Size)}
	for _, v := range r.Versions {
		parts = append(parts, fmt.Sprintf("%s %q=%q %s", v.Sequence, v.Key, v.Value, v.State))
	}
	for _, e := range r.Entries {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%q %s %s%s", e.Member, e.Score, e.Value, e.Wrong)))
	}
	if r.More {
		parts = append(parts, "more")
	}
	if r.Counter != nil {
		parts = append(parts, "counter "+*r.Counter)
	}
	if r.Snapshot != nil {
		parts = append(parts, fmt.Sprintf("boundary %s prefix %q moment %v", r.Snapshot.Boundary, r.Snapshot.Prefix, r.Snapshot.Moment > 0))
	}
	if r.Blob != nil {
		parts = append(parts, fmt.Sprintf("%q %s of %d, framed %v", r.Blob.Reference, r.Blob.Kind, r.Blob.Size, r.Blob.Frame != nil))
	}
	if r.Chunk != nil {
		parts = append(parts, fmt.Sprintf("chunk %d of %s, decoded %v", r.Chunk.Number, r.Chunk.Segment, r.Delta != nil))
	}
	if r.Preview != nil {
		parts = append(parts, fmt.Sprintf("preview %.20q", *r.Preview))
	}
	for _, err := range r.Damage {
		parts = append(parts, "damage: "+err.Error())
	}
	return strings.Join(parts, "; ")
}

// untagged is a member of v3 without a tag: never expires, no tombstone.
func untagged(key, value, version string) string {
	text := "\x95"
	for _, s := range []string{key, value, version} {
		text += string([]byte{0xa0 + byte(len(s))}) + s
	}
	return text + "\xff\x00"
}

func TestKey(t *testing.T) {
	t.Parallel()
	keys, err := opaque.NewKeys(prefix)
	if err != nil {
		t.Fatal(err)
	}
	sum := func(key string) string { return strings.TrimPrefix(keys.Row(key), domain) }
	quarantine := prefix + ":{zlink-location-v3}:opaque-quarantine:" + sum("k")
	v1 := prefix + ":{zlink-location-opaque-v1}:"
	chunkFrame := "ZLTC\x01\x00\x00\x00\x00\x00\x0d\x00\x00\x00\x07\x00\x00\x00\x05hello\x13\xa7\x3f\xe5"
	users := warm.Segment{Name: "users"}
	put := func(key, value string) opaque.Mutation { return opaque.Put(key, value, opaque.Never()) }
	member := func(m opaque.Member) string { return string(m.Append(nil)) }
	b64 := base64.StdEncoding.EncodeToString

	cases := map[string]struct {
		prepare func(f fixture)
		key     string
		limit   int
		want    string
	}{
		"nothing": {func(fixture) {}, keys.Row("k"), 0, "opaque current row; none; -1"},
		"row": {func(f fixture) {
			f.write(put("k", "1"))
			f.snapshot()
			f.write(put("k", "2"))
			f.write(opaque.Put("k", "3", opaque.At(1)))
		}, keys.Row("k"), 0, `opaque current row; zset; 3; 3 "k"="3" expired; 2 "k"="2" replaced; 1 "k"="1" replaced`},
		"row, cut short": {func(f fixture) {
			f.write(put("k", "1"))
			f.snapshot()
			for range 40 {
				f.write(put("k", "2"))
			}
			f.write(opaque.Delete("k"))
		}, keys.Row("k"), 2, `opaque current row; zset; 42; 42 "k"="" tombstone; 41 "k"="2" replaced; more`},
		"row of an unknown tag": {func(f fixture) {
			f.write(put("k", "1"))
			f.do("ZADD", keys.Row("k"), 2, "\x02x")
		}, keys.Row("k"), 0, `opaque current row; zset; 2; 2 ""="" damaged; 1 "k"="1" replaced; damage: version at sequence 2: unknown format tag 0x02; ` +
			`damage: its newest version does not decode: once it is due for collection, every write and every new scan of other drivers fails`},
		"row that holds another key's": {func(f fixture) {
			f.do("ZADD", keys.Row("k"), 1, member(opaque.Member{Key: "x", Version: "1"}))
		}, keys.Row("k"), 0, `opaque current row; zset; 1; 1 "x"="" damaged; damage: version at sequence 1: it is of another key, "x"`},
		"row without tags": {func(f fixture) {
			f.do("ZADD", keys.Row("k"), 1, untagged("k", "dmFs", "7"), 2, untagged("k", "plain", "8"))
		}, keys.Row("k"), 0, `opaque v3-untagged row; zset; 2; 2 "k"="plain" live; 1 "k"="dmFs" replaced`},
		"row of equal scores": {func(f fixture) {
			for i := range 40 {
				f.do("ZADD", keys.Row("k"), 1, member(opaque.Member{Key: "k", Version: fmt.Sprint(i)}))
			}
		}, keys.Row("k"), 39, "opaque current row; zset; 40; " + strings.Repeat(`1 "k"="" live; `, 1) + strings.Repeat(`1 "k"="" replaced; `, 38) + "more"},
		"row that is a string": {func(f fixture) { f.do("SET", keys.Row("k"), "v") }, keys.Row("k"), 0,
			`opaque current row; string; 1; preview "v"; damage: it is of type string, not zset`},
		"row that expires": {func(f fixture) { f.write(put("k", "1")); f.do("EXPIRE", keys.Row("k"), 1000) }, keys.Row("k"), 0,
			`opaque current row; zset; 1; 1 "k"="1" live; damage: it expires, and such a key never does`},
		"quarantine": {func(f fixture) { f.do("ZADD", quarantine, 5, "\x02x") }, quarantine, 0,
			`opaque current quarantine; zset; 1; 5 ""="" damaged`},
		"index": {func(f fixture) {
			f.write(put("a", "1"), put("b", "1"), put("c", "1"))
			f.do("ZADD", keys.Index(), 3, "d")
		}, keys.Index(), 0, `opaque current index; zset; 4; "a" 0; "b" 0; "c" 0; "d" 3 its score is not 0; damage: 1 of the 4 entries shown are wrong`},
		"index, cut short": {func(f fixture) { f.write(put("a", "1"), put("b", "1"), put("c", "1")) }, keys.Index(), 2,
			`opaque current index; zset; 3; "a" 0; "b" 0; more`},
		"map": {func(f fixture) { f.write(put("a", "1")) }, keys.Map(), 0, `opaque current map; hash; 1; "a"  ` + keys.Row("a")},
		"map to another row": {func(f fixture) { f.do("HSET", keys.Map(), "a", "b") }, keys.Map(), 0,
			`opaque current map; hash; 1; "a"  bits row is ` + keys.Row("a") + `; damage: 1 of the 1 entries shown are wrong`},
		"cleanup": {func(f fixture) { f.do("ZADD", keys.Cleanup(), 1, "a", 2, "b") }, keys.Cleanup(), 0,
			`opaque current cleanup; zset; 2; "a" 1; "b" 2`},
		"sequence":           {func(f fixture) { f.write(put("a", "1")) }, keys.Sequence(), 0, `opaque current sequence; string; 1; counter 1`},
		"sequence, no count": {func(f fixture) { f.do("SET", keys.Sequence(), "07") }, keys.Sequence(), 0, `opaque current sequence; string; 2; counter 07; damage: it is no number that can be counted up`},
		"snapshot": {func(f fixture) {
			f.do("HSET", keys.Scan("id"), "now", "5", "boundary", "1", "prefix", "a\x00")
			f.do("EXPIRE", keys.Scan("id"), 60)
			f.do("ZADD", keys.SnapshotExpiry(), 4102444800000, "id")
			f.do("ZADD", keys.SnapshotBoundary(), 1, "id")
		}, keys.Scan("id"), 0, `opaque current snapshot; hash; 3; boundary 1 prefix "a\x00" moment true`},
		"snapshot, alone": {func(f fixture) {
			f.do("HSET", keys.Scan("id"), "now", "5", "boundary", "1", "prefix", "a")
			f.do("EXPIRE", keys.Scan("id"), 60)
			f.do("ZADD", keys.SnapshotBoundary(), 2, "id")
		}, keys.Scan("id"), 0, `opaque current snapshot; hash; 3; boundary 1 prefix "a" moment true; ` +
			`damage: its three records disagree: the guard is missing, the boundary 2, and that of this key 1`},
		"snapshot, broken": {func(f fixture) { f.do("HSET", keys.Scan("id"), "now", "x", "prefix", "a") }, keys.Scan("id"), 0,
			`opaque current snapshot; hash; 2; boundary  prefix "a" moment false; damage: it never expires, and such a key does; damage: it has no boundary; damage: its now is "x"; ` +
				`damage: its three records disagree: the guard is missing, the boundary missing, and that of this key missing`},
		"snapshot expiry": {func(f fixture) { f.do("ZADD", keys.SnapshotExpiry(), 7, "id") }, keys.SnapshotExpiry(), 0,
			`opaque current snapshot-expiry; zset; 1; "id" 7`},
		"under the name of the store": {func(f fixture) { f.do("SET", domain+"x", "v") }, domain + "x", 0,
			`opaque current unknown; string; 1; preview "v"; damage: it stands under the name of a store, and is none of its keys`},

		"opaque-v1 record": {func(f fixture) {
			f.do("HSET", v1+"record:"+sum("k"), "key", "k", "bytes", b64([]byte("v")), "version", "7", "expiresAtMs", "0")
		}, v1 + "record:" + sum("k"), 0, `opaque opaque-v1 record; hash; 4;  "k"="v" live`},
		"opaque-v1 record, broken": {func(f fixture) { f.do("HSET", v1+"record:"+sum("k"), "key", "k") }, v1 + "record:" + sum("k"), 0,
			`opaque opaque-v1 record; hash; 1; "key"  k; damage: it does not decode: the hash has no field "bytes"`},
		"opaque-v1 index": {func(f fixture) { f.do("HSET", v1+"index", "k", `["dg==","7",0]`, "x", "[]") }, v1 + "index", 1,
			`opaque opaque-v1 index; hash; 2; "k"  ["dg==","7",0]; more`},
		"opaque-v1 counter": {func(f fixture) { f.do("SET", v1+"version", 7) }, v1 + "version", 0, `opaque opaque-v1 version-counter; string; 1; counter 7`},
		"opaque-v1 scan":    {func(f fixture) { f.do("RPUSH", v1+"scan:u", "a", "b") }, v1 + "scan:u", 0, `opaque opaque-v1 snapshot; list; 2; "a"; "b"`},
		"tagless record": {func(f fixture) {
			f.do("HSET", prefix+":opaque:6b", "bytes", "v", "version", "7")
			f.do("EXPIRE", prefix+":opaque:6b", 1000)
		}, prefix + ":opaque:6b", 0, `opaque tagless record; hash; 2;  "k"="v" live`},
		"tagless name, of another type": {func(f fixture) { f.do("SET", prefix+":opaque:6b", "v") }, prefix + ":opaque:6b", 0,
			`  ; string; 1; preview "v"`},

		"blob": {func(f fixture) { f.do("SET", f.blob.Key("a:b"), "hello", "EX", 1000) }, blobKey("a:b"), 0,
			`blob current blob; string; 5; "a:b" bytes of 5, framed false`},
		"chunk of a blob": {func(f fixture) { f.do("SET", f.blob.Key("a"), chunkFrame, "EX", 1000) }, blobKey("a"), 0,
			`blob current blob; string; 28; "a" chunk of 28, framed true`},
		"blob that is broken and lasts": {func(f fixture) { f.do("SET", f.blob.Key("a"), chunkFrame[:27]+"\x00") }, blobKey("a"), 0,
			`blob current blob; string; 28; "a" chunk of 28, framed true; damage: it never expires, and such a key does; ` +
				`damage: blob "a": decoding the frame of a chunk: the CRC-32C is wrong: it is 13a73fe5, and the frame says 13a73f00 (redis key "app:{zlink-relocation-v1}:blob:a")`},
		"relocation-opaque-v1": {func(f fixture) {
			key := prefix + ":{zlink-relocation-opaque-v1}:blob:" + sum("ref")
			f.do("HSET", key, "reference", "ref", "bytes", chunkFrame, "expiresAtMs", "4102444800000")
			f.do("EXPIRE", key, 1000)
		}, prefix + ":{zlink-relocation-opaque-v1}:blob:" + sum("ref"), 0, `blob relocation-opaque-v1 blob; hash; 3; "ref" chunk of 28, framed true`},
		"payload":    {func(f fixture) { f.do("SET", "app:payload:r", "hello", "EX", 1000) }, "app:payload:r", 0, `blob payload blob; string; 5; "r" bytes of 5, framed false`},
		"plain blob": {func(f fixture) { f.do("SET", "app:blob:r", "", "EX", 1000) }, "app:blob:r", 0, `blob plain-blob blob; string; 0; "r" bytes of 0, framed false`},
		"relocation root": {func(f fixture) { f.do("SET", "app:{relocation}:root:r", b64([]byte(chunkFrame)), "EX", 1000) }, "app:{relocation}:root:r", 0,
			`blob relocation-root blob; string; 40; "r" chunk of 28, framed true`},
		"relocation root, no base64": {func(f fixture) { f.do("SET", "app:{relocation}:root:r", "a", "EX", 1000) }, "app:{relocation}:root:r", 0,
			`blob relocation-root blob; string; 1; preview "a"; damage: it does not decode: the text is no base64`},

		"warm chunk": {func(f fixture) { f.create(users, 7, []byte(emptyDelta)) }, "{app|_default|users}c:7", 0,
			`warm current chunk; hash; 2; chunk 7 of users, decoded true`},
		"warm chunk of other bytes": {func(f fixture) { f.create(warm.Segment{Namespace: "eu", Name: "users"}, 7, []byte("x")) }, "{app|eu|users}c:7", 0,
			`warm current chunk; hash; 2; chunk 7 of eu/users, decoded false; damage: its payload: decoding the delta: unsupported delta version 120`},
		"warm chunk without a token": {func(f fixture) { f.do("HSET", "{app|_default|users}c:7", "b", "") }, "{app|_default|users}c:7", 0,
			`warm current chunk; hash; 1; "b"; damage: chunk 7 of segment "users" has no token (redis key "{app|_default|users}c:7")`},
		"warm chunk with more": {func(f fixture) {
			f.create(users, 7, []byte(emptyDelta))
			f.do("HSET", "{app|_default|users}c:7", "x", "")
		}, "{app|_default|users}c:7", 0, `warm current chunk; hash; 3; chunk 7 of users, decoded true; damage: 1 of its fields belong to no chunk`},
		"segment index": {func(f fixture) { f.do("ZADD", "{app|_default|users}idx", 7, "7", 8, "08", 9, "10") }, "{app|_default|users}idx", 0,
			`warm current segment-index; zset; 3; "7" 7; "08" 8 it is no number of a chunk; "10" 9 its score is another number; damage: 2 of the 3 entries shown are wrong`},

		"foreign string": {func(f fixture) { f.do("SET", "x", strings.Repeat("v", 5000)) }, "x", 0, `  ; string; 5000; preview "vvvvvvvvvvvvvvvvvvvv"`},
		"foreign hash":   {func(f fixture) { f.do("HSET", "x", "f", "v") }, "x", 0, `  ; hash; 1; "f"  v`},
		"foreign list":   {func(f fixture) { f.do("RPUSH", "x", "a", "b", "c") }, "x", 2, `  ; list; 3; "a"; "b"; more`},
		"foreign set":    {func(f fixture) { f.do("SADD", "x", "a") }, "x", 0, `  ; set; 1; "a"`},
		"foreign zset":   {func(f fixture) { f.do("ZADD", "x", 1.5, "a") }, "x", 0, `  ; zset; 1; "a" 1.5`},
		"foreign stream": {func(f fixture) { f.do("XADD", "x", "1-1", "f", "v", "e", "w") }, "x", 0, `  ; stream; 1; "1-1"  e=w f=v`},
	}
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		for name, c := range cases {
			f.do("FLUSHALL")
			c.prepare(f)
			before := f.rdb.DBSize(context.Background()).Val()
			got := f.inspect(c.key, c.limit)
			if told(got) != c.want {
				t.Errorf("%s: %s\nis told as %s\nwant       %s", name, c.key, told(got), c.want)
			}
			if s.Real && got.Found && (got.Encoding == "" || got.Memory == nil || *got.Memory == 0) {
				t.Errorf("%s: encoding %q, memory %v", name, got.Encoding, got.Memory)
			}
			if after := f.rdb.DBSize(context.Background()).Val(); after != before {
				t.Errorf("%s: %d keys became %d", name, before, after)
			}
		}
	})
}

// emptyDelta is a payload that adds and removes nothing.
const emptyDelta = "\x01\x08\x00\x00\x00" + emptyHalf + emptyHalf

const emptyHalf = "\x3a\x30\x00\x00\x00\x00\x00\x00"

// f0 is the Redis key of a blob.
func blobKey(reference string) string { return prefix + ":{zlink-relocation-v1}:blob:" + reference }

func (f fixture) create(segment warm.Segment, chunk uint16, payload []byte) {
	f.Helper()
	if _, err := f.warm.Create(context.Background(), segment, chunk, payload); err != nil {
		f.Fatal(err)
	}
}

// What is told of a version says why it is live or not.
func TestWhy(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		f.write(opaque.Put("lasting", "", opaque.Never()), opaque.Put("leased", "", opaque.After(year)), opaque.Put("over", "", opaque.At(1)))
		f.snapshot()
		f.write(opaque.Delete("lasting"))
		for key, want := range map[string][]string{
			"lasting": {"the newest version is a delete", "a newer version stands above it, of sequence 2"},
			"leased":  {"the newest version, and it expires in 364 days"},
			"over":    {"the newest version, and it expired"},
		} {
			r := f.inspect(f.opaque.Keys().Row(key), 0)
			if len(r.Versions) != len(want) || r.Name.Key != key {
				t.Errorf("%s: %s", key, told(r))
				continue
			}
			for i, v := range r.Versions {
				if !strings.HasPrefix(v.Why, want[i]) {
					t.Errorf("%s: version %d: %s, want %s", key, i, v.Why, want[i])
				}
			}
		}
	})
}

// A user who may not ask for encoding and memory gets the rest.
func TestRights(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t)
	f := newFixture(t, s)
	f.write(opaque.Put("k", "v", opaque.Never()))
	f.do("ACL", "SETUSER", "bob", "on", ">secret", "~*", "+@all", "-object", "-memory")
	options := *f.rdb.Options()
	options.Username, options.Password = "bob", "secret"
	bob := redis.NewClient(&options)
	defer bob.Close()
	r, err := inspect.Key(context.Background(), bob, f.opaque.Keys().Row("k"), inspect.Options{})
	if err != nil || r.Encoding != "" || r.Memory != nil || len(r.Versions) != 1 || len(r.Damage) > 0 {
		t.Errorf("%s, encoding %q, memory %v, %v", told(r), r.Encoding, r.Memory, err)
	}
	if r.Name.Store != keyspace.Opaque {
		t.Errorf("the store is %q", r.Name.Store)
	}
}
