// Tests of migrating every older layout: what is planned, written, refused and
// retired, on fixtures written byte by byte.
package migrate_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/migrate"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/servers"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

const (
	farOff = int64(4102444800000) // in the year 2100
	guid   = "0123456789abcdef0123456789abcdef"
)

func sum(key string) string {
	digest := sha256.Sum256([]byte(key))
	return hex.EncodeToString(digest[:])
}

func sha1Of(script string) string { return luascripts.Must(script).SHA1 }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// each runs a test on both servers, and on a cluster.
func each(t *testing.T, run func(t *testing.T, rdb redis.UniversalClient)) {
	t.Helper()
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) { run(t, s.Client(t)) })
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: testserver.StartCluster(t).Addrs()})
		t.Cleanup(func() { _ = rdb.Close() })
		run(t, rdb)
	})
}

// lay lays records of the layouts that have keys of their own.
func lay(t *testing.T, rdb redis.UniversalClient) {
	t.Helper()
	ctx := t.Context()
	v1 := func(key, bytes, version, expiresAt string) {
		hash := "app:{zlink-location-opaque-v1}:record:" + sum(key)
		must(t, rdb.HSet(ctx, hash, "key", key, "bytes", bytes, "version", version, "expiresAtMs", expiresAt).Err())
		must(t, rdb.HSet(ctx, "app:{zlink-location-opaque-v1}:index", key, fmt.Sprintf(`[%q,%q,%s]`, bytes, version, expiresAt)).Err())
	}
	v1("v1/lasts", "AP8=", "3", "0")
	v1("v1/expires", "", guid, fmt.Sprint(farOff))
	v1("v1/expired", "aGk=", "2", "1000")
	must(t, rdb.Set(ctx, "app:{zlink-location-opaque-v1}:version", "3", 0).Err())

	must(t, rdb.HSet(ctx, "app:opaque:"+hex.EncodeToString([]byte("t\x00")), "bytes", "\x00\xff", "version", "7").Err())
	must(t, rdb.HSet(ctx, "app:opaque:"+hex.EncodeToString([]byte("u")), "bytes", "v", "version", "8").Err())
	must(t, rdb.PExpireAt(ctx, "app:opaque:"+hex.EncodeToString([]byte("u")), time.UnixMilli(farOff)).Err())
	must(t, rdb.Set(ctx, "app:opaque:version", "8", 0).Err())

	until := time.UnixMilli(farOff)
	hash := "app:{zlink-relocation-opaque-v1}:blob:" + sum("b/1")
	must(t, rdb.HSet(ctx, hash, "reference", "b/1", "bytes", "\x00=", "expiresAtMs", fmt.Sprint(farOff)).Err())
	must(t, rdb.PExpireAt(ctx, hash, until).Err())
	for key, value := range map[string]string{"app:payload:b/2": "two", "app:blob:b:{3}": "", "app:{relocation}:root:b/4": "AP8="} {
		must(t, rdb.Set(ctx, key, value, 0).Err())
		must(t, rdb.PExpireAt(ctx, key, until).Err())
	}
}

// table is counts as text: layout, found, and what is not 0.
func table(counts []migrate.Count) string {
	var text strings.Builder
	for _, c := range counts {
		fmt.Fprintf(&text, "%s %d:", c.Layout, c.Found)
		for _, n := range []struct {
			name string
			n    int64
		}{
			{"ready", c.Ready}, {"done", c.Done}, {"expired", c.Expired}, {"tombstones", c.Tombstones}, {"collisions", c.Collisions},
			{"damaged", c.Damaged}, {"gone", c.Gone}, {"written", c.Written}, {"ambiguous", c.Ambiguous}, {"raw", c.NotBase64},
			{"retired", c.Retired}, {"kept", c.Kept},
		} {
			if n.n != 0 {
				fmt.Fprintf(&text, " %s %d", n.name, n.n)
			}
		}
		text.WriteByte('\n')
	}
	return text.String()
}

type step func(context.Context, redis.UniversalClient, migrate.Options) ([]migrate.Count, error)

// expect runs a step and compares its counts.
func expect(t *testing.T, rdb redis.UniversalClient, do step, o migrate.Options, want string) {
	t.Helper()
	counts, err := do(t.Context(), rdb, o)
	must(t, err)
	if got := table(counts); got != want {
		t.Errorf("counts\n%swant\n%s", got, want)
	}
}

// refuse runs a step that must change nothing.
func refuse(t *testing.T, rdb redis.UniversalClient, do step, o migrate.Options, kind storeerr.Kind, says string) {
	t.Helper()
	before := dump(t, rdb)
	_, err := do(t.Context(), rdb, o)
	if storeerr.KindOf(err) != kind || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, want %s with %q", err, kind, says)
	}
	if after := dump(t, rdb); !slices.Equal(before, after) {
		t.Errorf("before\n%q\nafter\n%q", before, after)
	}
}

// dump is every key with its bytes and whether it expires, sorted.
func dump(t *testing.T, rdb redis.UniversalClient) []string {
	t.Helper()
	ctx := t.Context()
	var all []string
	for _, key := range keys(t, rdb) {
		var value any
		switch rdb.Type(ctx, key).Val() {
		case "string":
			value = rdb.Get(ctx, key).Val()
		case "hash":
			value = rdb.HGetAll(ctx, key).Val()
		case "zset":
			value = rdb.ZRangeWithScores(ctx, key, 0, -1).Val()
		}
		all = append(all, fmt.Sprintf("%q %q %v", key, fmt.Sprint(value), rdb.PTTL(ctx, key).Val() > 0))
	}
	return all
}

func keys(t *testing.T, rdb redis.UniversalClient) []string {
	t.Helper()
	var all []string
	must(t, servers.Keys(t.Context(), rdb, "", func(_ context.Context, keys []string) error {
		all = append(all, keys...)
		return nil
	}))
	slices.Sort(all)
	return slices.Compact(all)
}

// checkMigrated holds that a prefix has everything that lay has laid.
func checkMigrated(t *testing.T, rdb redis.UniversalClient, prefix string) {
	t.Helper()
	rows, err := opaque.New(rdb, prefix)
	must(t, err)
	var got []string
	for row, err := range rows.Scan(t.Context(), opaque.ScanOptions{Live: true}) {
		must(t, err)
		got = append(got, fmt.Sprintf("%q %q %d", row.Key, row.Value, (row.ExpiresAt+500)/1000))
	}
	want := []string{`"t\x00" "\x00\xff" 0`, `"u" "v" 4102444800`, `"v1/expires" "" 4102444800`, `"v1/lasts" "\x00\xff" 0`}
	if !slices.Equal(got, want) {
		t.Errorf("rows\n%q\nwant\n%q", got, want)
	}
	blobs, err := blob.New(rdb, prefix)
	must(t, err)
	for reference, payload := range map[string]string{"b/1": "\x00=", "b/2": "two", "b:{3}": "", "b/4": "\x00\xff"} {
		found, err := blobs.Read(t.Context(), reference)
		if err != nil || string(found.Payload) != payload || found.ExpiresAt < farOff-1000 || found.ExpiresAt > farOff+1000 {
			t.Errorf("blob %q: %+v, %v", reference, found, err)
		}
	}
}

const (
	planned = `opaque-v1 3: ready 2 expired 1
tagless 2: ready 2
relocation-opaque-v1 1: ready 1
payload 1: ready 1
plain-blob 1: ready 1
relocation-root 1: ready 1
`
	applied = `opaque-v1 3: expired 1 written 2
tagless 2: written 2
relocation-opaque-v1 1: written 1
payload 1: written 1
plain-blob 1: written 1
relocation-root 1: written 1
`
	settled = `opaque-v1 3: done 2 expired 1
tagless 2: done 2
relocation-opaque-v1 1: done 1
payload 1: done 1
plain-blob 1: done 1
relocation-root 1: done 1
`
	retired = `opaque-v1 3: done 2 expired 1 retired 3
tagless 2: done 2 retired 2
relocation-opaque-v1 1: done 1 retired 1
payload 1: done 1 retired 1
plain-blob 1: done 1 retired 1
relocation-root 1: done 1 retired 1
`
)

func TestMigrate(t *testing.T) {
	for _, to := range []string{"app", "new"} {
		t.Run("to "+to, func(t *testing.T) {
			each(t, func(t *testing.T, rdb redis.UniversalClient) {
				lay(t, rdb)
				must(t, rdb.Set(t.Context(), "other", "stays", 0).Err())
				old := dump(t, rdb)
				o := migrate.Options{From: "app", To: to, Problem: func(err error) { t.Error(err) }}
				expect(t, rdb, migrate.Plan, o, planned)
				if got := dump(t, rdb); !slices.Equal(got, old) {
					t.Errorf("a plan changed\n%q into\n%q", old, got)
				}
				expect(t, rdb, migrate.Apply, o, applied)
				checkMigrated(t, rdb, to)
				after := dump(t, rdb)
				for _, line := range old {
					if !slices.Contains(after, line) {
						t.Errorf("apply did not leave %s alone", line)
					}
				}
				expect(t, rdb, migrate.Apply, o, settled)
				if again := dump(t, rdb); !slices.Equal(after, again) {
					t.Errorf("applied again, and from\n%q it is\n%q", after, again)
				}
				dry := o
				dry.DryRun = true
				expect(t, rdb, migrate.Retire, dry, retired)
				expect(t, rdb, migrate.Retire, o, retired)
				expect(t, rdb, migrate.Retire, o, "")
				if to == "new" {
					refuse(t, rdb, migrate.Plan, o, storeerr.NotFound, `no blob store of prefix "app"`)
				}
				checkMigrated(t, rdb, to)
				for _, key := range keys(t, rdb) {
					if n := keyspace.Identify(key); key != "other" && (n.Layout != keyspace.Current || n.Prefix != to) {
						t.Errorf("%s is left", key)
					}
				}
			})
		})
	}
}

func TestLayoutsAreChosen(t *testing.T) {
	each(t, func(t *testing.T, rdb redis.UniversalClient) {
		lay(t, rdb)
		o := migrate.Options{From: "app", To: "app", Layouts: []keyspace.Layout{keyspace.Payload, keyspace.Tagless}}
		expect(t, rdb, migrate.Apply, o, "tagless 2: written 2\npayload 1: written 1\n")
		o.From, o.To = "ap", "app"
		for _, do := range []step{migrate.Plan, migrate.Apply} {
			refuse(t, rdb, do, o, storeerr.NotFound, `no blob store of prefix "ap"`)
		}
		o.To = "none"
		refuse(t, rdb, migrate.Retire, o, storeerr.NotFound, `no blob store of prefix "ap"`)
	})
}

// TestCollisions holds that nothing newer is overwritten, and nothing retired
// that has no equal.
func TestCollisions(t *testing.T) {
	each(t, func(t *testing.T, rdb redis.UniversalClient) {
		ctx := t.Context()
		lay(t, rdb)
		rows, err := opaque.New(rdb, "app")
		must(t, err)
		_, err = rows.Write(ctx, opaque.Batch{Mutations: []opaque.Mutation{
			opaque.Put("v1/lasts", "newer", opaque.Never()), opaque.Put("u", "v", opaque.Never()),
		}})
		must(t, err)
		blobs, err := blob.New(rdb, "app")
		must(t, err)
		_, err = blobs.Put(ctx, "b/2", []byte("other"), 60_000)
		must(t, err)
		o := migrate.Options{From: "app", To: "app"}
		refuse(t, rdb, migrate.Apply, o, storeerr.Conflict, "1 records of layout opaque-v1")
		var problems []string
		o.Problem = func(err error) { problems = append(problems, err.Error()) }
		o.SkipCollisions = true
		const others = "relocation-opaque-v1 1: %[1]s 1%[2]s\npayload 1: collisions 1%[3]s\nplain-blob 1: %[1]s 1%[2]s\nrelocation-root 1: %[1]s 1%[2]s\n"
		expect(t, rdb, migrate.Apply, o, "opaque-v1 3: expired 1 collisions 1 written 1\ntagless 2: collisions 1 written 1\n"+fmt.Sprintf(others, "written", "", ""))
		for _, want := range []string{
			`key "v1/lasts" has another value`, `key "u" has the same value in the current layout, and another expiry`, `blob "b/2" has other bytes`,
		} {
			if !slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, want) }) {
				t.Errorf("%q does not say %q", problems, want)
			}
		}
		expect(t, rdb, migrate.Retire, o, "opaque-v1 3: done 1 expired 1 collisions 1 retired 2 kept 1\n"+
			"tagless 2: done 1 collisions 1 retired 1 kept 1\n"+fmt.Sprintf(others, "done", " retired 1", " kept 1"))
		left := keys(t, rdb)
		for _, key := range []string{
			"app:{zlink-location-opaque-v1}:record:" + sum("v1/lasts"), "app:{zlink-location-opaque-v1}:index", "app:{zlink-location-opaque-v1}:version",
			"app:opaque:75", "app:opaque:version", "app:payload:b/2",
		} {
			if !slices.Contains(left, key) {
				t.Errorf("%s is gone", key)
			}
		}
		_, readings, err := rows.Read(ctx, "v1/lasts")
		must(t, err)
		if readings[0].Row.Value != "newer" {
			t.Errorf("the newer row is %+v", readings[0])
		}
	})
}

// TestRetireBeforeApply holds that old keys without an equal stay.
func TestRetireBeforeApply(t *testing.T) {
	each(t, func(t *testing.T, rdb redis.UniversalClient) {
		lay(t, rdb)
		o := migrate.Options{From: "app", To: "app", Layouts: []keyspace.Layout{keyspace.OpaqueV1, keyspace.RelocationRoot}}
		expect(t, rdb, migrate.Retire, o, "opaque-v1 3: ready 2 expired 1 retired 1 kept 2\nrelocation-root 1: ready 1 kept 1\n")
		expect(t, rdb, migrate.Apply, o, "opaque-v1 2: written 2\nrelocation-root 1: written 1\n")
	})
}

func TestDamage(t *testing.T) {
	each(t, func(t *testing.T, rdb redis.UniversalClient) {
		ctx := t.Context()
		lay(t, rdb)
		must(t, rdb.HSet(ctx, "app:{zlink-location-opaque-v1}:record:"+sum("v1/lasts"), "bytes", "!").Err())
		must(t, rdb.HSet(ctx, "app:{zlink-location-opaque-v1}:index", "lost", `["aGk=","9",0]`).Err())
		must(t, rdb.HSet(ctx, "app:opaque:7a", "bytes", strings.Repeat("x", opaque.MaxValueBytes+1), "version", "1").Err())
		must(t, rdb.Set(ctx, "app:payload:lasting", "", 0).Err())
		var problems []string
		o := migrate.Options{
			From: "app", To: "app", Problem: func(err error) { problems = append(problems, err.Error()) },
			Layouts: []keyspace.Layout{keyspace.OpaqueV1, keyspace.Tagless, keyspace.Payload},
		}
		expect(t, rdb, migrate.Apply, o, "opaque-v1 4: expired 1 damaged 2 written 1\ntagless 3: damaged 1 written 2\npayload 2: damaged 1 written 1\n")
		slices.Sort(problems)
		for i, want := range []string{
			"no record of layout opaque-v1: bytes: the text is no base64", "no record of layout payload: it has no time to live",
			`the index has key "lost", and there is no record of it`, `the value of key "z" has 1048577 bytes, the limit is 1048576`,
		} {
			if i >= len(problems) || !strings.Contains(problems[i], want) {
				t.Errorf("problems %q, want %q", problems, want)
			}
		}
		expect(t, rdb, migrate.Retire, o, "opaque-v1 4: done 1 expired 1 damaged 2 retired 2 kept 2\n"+
			"tagless 3: done 2 damaged 1 retired 2 kept 1\npayload 2: done 1 damaged 1 retired 1 kept 1\n")
		if left := keys(t, rdb); !slices.Contains(left, "app:{zlink-location-opaque-v1}:index") {
			t.Errorf("the index with the lost row is gone: %q", left)
		}
	})
}

// TestRivals holds that what two older layouts have otherwise is in the plan, and
// not written from either of them.
func TestRivals(t *testing.T) {
	each(t, func(t *testing.T, rdb redis.UniversalClient) {
		ctx := t.Context()
		lay(t, rdb)
		// The same value in two layouts, and other ones in three.
		must(t, rdb.HSet(ctx, "app:opaque:"+hex.EncodeToString([]byte("v1/lasts")), "bytes", "\x00\xff", "version", "1").Err())
		must(t, rdb.HSet(ctx, "app:opaque:"+hex.EncodeToString([]byte("v1/expires")), "bytes", "other", "version", "2").Err())
		must(t, rdb.HSet(ctx, "app:opaque:"+hex.EncodeToString([]byte("v1/expired")), "bytes", "newer", "version", "3").Err())
		for _, key := range []string{"app:blob:b/2", "app:{relocation}:root:b/2"} {
			must(t, rdb.Set(ctx, key, "AAAA", 0).Err())
			must(t, rdb.PExpireAt(ctx, key, time.UnixMilli(farOff)).Err())
		}
		var problems []string
		o := migrate.Options{From: "app", To: "new", Problem: func(err error) { problems = append(problems, err.Error()) }}
		const want = `opaque-v1 3: %[1]s 1 expired 1 collisions 1
tagless 5: %[1]s 4 collisions 1
relocation-opaque-v1 1: %[1]s 1
payload 1: collisions 1
plain-blob 2: %[1]s 1 collisions 1
relocation-root 2: %[1]s 1 collisions 1
`
		expect(t, rdb, migrate.Plan, o, fmt.Sprintf(want, "ready"))
		if len(problems) != 5 || !slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, `layout tagless has another "v1/expires"`) }) {
			t.Errorf("problems %q", problems)
		}
		refuse(t, rdb, migrate.Apply, o, storeerr.Conflict, "nothing has changed")
		o.SkipCollisions = true
		counts, err := migrate.Apply(ctx, rdb, o)
		must(t, err)
		var written, collisions, double int64
		for _, c := range counts {
			written, collisions, double = written+c.Written, collisions+c.Collisions, double+c.Done
		}
		if written != 7 || double != 1 || collisions != 5 {
			t.Errorf("applied\n%s", table(counts))
		}
		rows, err := opaque.New(rdb, "new")
		must(t, err)
		_, there, err := rows.Read(ctx, "v1/expires", "v1/expired")
		must(t, err)
		if there[0].Found || there[1].Row.Value != "newer" {
			t.Errorf("rows %+v", there)
		}
	})
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for says, o := range map[string]migrate.Options{
		"the prefix is empty":  {To: "a"},
		"holds a brace":        {From: "a", To: "{"},
		"no older layout":      {From: "a", To: "a", Layouts: []keyspace.Layout{keyspace.Current}},
		"values are raw or":    {From: "a", To: "a", Values: "hex"},
		"or stay in place":     {From: "a", To: "b", InPlace: true},
		`no older layout "v9"`: {From: "a", To: "a", Layouts: []keyspace.Layout{"v9"}},
	} {
		for _, do := range []step{migrate.Plan, migrate.Apply, migrate.Retire} {
			if _, err := do(t.Context(), nil, o); !errors.Is(err, storeerr.Invalid) || !strings.Contains(err.Error(), says) {
				t.Errorf("%+v: %v, want %q", o, err, says)
			}
		}
	}
}
