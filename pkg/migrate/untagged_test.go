package migrate_test

// The rows of v3 untagged: to another prefix, and in place.

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/migrate"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// layUntagged lays rows as the older drivers left them, each with index and
// map. Values that may be base64 text come with the second call alone.
func layUntagged(t *testing.T, rdb redis.UniversalClient, ambiguous bool) opaque.Keys {
	t.Helper()
	ctx := t.Context()
	k, err := opaque.NewKeys("app")
	must(t, err)
	row := func(key string, members ...string) {
		for i, member := range members {
			must(t, rdb.ZAdd(ctx, k.Row(key), redis.Z{Score: float64(10 + i), Member: member}).Err())
		}
		must(t, rdb.ZAdd(ctx, k.Index(), redis.Z{Member: key}).Err())
		must(t, rdb.HSet(ctx, k.Map(), key, k.Row(key)).Err())
	}
	const never, live, dead = "\xff", "\x00", "\x01"
	const far = "\xcf\x00\x00\x03\xbb\x2c\xc3\xd8\x00" // 4102444800000
	version := "\xd9\x20" + guid
	if ambiguous {
		row("text", "\x95\xa4text\xa4AP8="+version+never+live)
	}
	row("bytes", "\x95\xa5bytes\xa1a\xa19"+never+live, "\x95\xa5bytes\xa2\x00\xff"+version+never+live)
	row("expires", "\x95\xa7expires\xa1!"+version+far+live)
	row("expired", "\x95\xa7expired\xa1!"+version+"\x05"+live)
	row("gone", "\x95\xa4gone\xa1!"+version+never+live, "\x95\xa4gone\xa0\xa0"+never+dead)
	must(t, rdb.ZAdd(ctx, k.Cleanup(), redis.Z{Score: 1e15, Member: "gone"}).Err())
	must(t, rdb.Set(ctx, k.Sequence(), "20", 0).Err())
	return k
}

// contents is what a store of the current layout has: each row's live value
// and expiry.
func contents(t *testing.T, rdb redis.UniversalClient, prefix string) []string {
	t.Helper()
	store, err := opaque.New(rdb, prefix)
	must(t, err)
	var got []string
	for row, err := range store.Scan(t.Context(), opaque.ScanOptions{Live: true}) {
		must(t, err)
		got = append(got, fmt.Sprintf("%q %q %d", row.Key, row.Value, row.ExpiresAt))
	}
	return got
}

func TestUntaggedToAnotherPrefix(t *testing.T) {
	each(t, func(t *testing.T, rdb redis.UniversalClient) {
		layUntagged(t, rdb, false)
		old := dump(t, rdb)
		o := migrate.Options{From: "app", To: "new"}
		expect(t, rdb, migrate.Plan, o, "v3-untagged 4: ready 2 expired 1 tombstones 1 raw 3\n")
		expect(t, rdb, migrate.Apply, o, "v3-untagged 4: expired 1 tombstones 1 written 2 raw 3\n")
		want := []string{`"bytes" "\x00\xff" 0`, `"expires" "!" 4102444800000`}
		if got := contents(t, rdb, "new"); !slices.Equal(got, want) {
			t.Errorf("migrated %q, want %q", got, want)
		}
		after := dump(t, rdb)
		for _, line := range old {
			if !slices.Contains(after, line) {
				t.Errorf("apply did not leave %s alone", line)
			}
		}
		expect(t, rdb, migrate.Apply, o, "v3-untagged 4: done 2 expired 1 tombstones 1 raw 3\n")
		expect(t, rdb, migrate.Retire, o, "v3-untagged 4: done 2 expired 1 tombstones 1 raw 3 retired 4\n")
		for _, key := range keys(t, rdb) {
			if keyspace.Identify(key).Prefix != "new" {
				t.Errorf("%s is left", key)
			}
		}
		if got := contents(t, rdb, "new"); !slices.Equal(got, want) {
			t.Errorf("retired, it holds %q, want %q", got, want)
		}
	})
}

func TestUntaggedRefusals(t *testing.T) {
	each(t, func(t *testing.T, rdb redis.UniversalClient) {
		layUntagged(t, rdb, true)
		same := migrate.Options{From: "app", To: "app"}
		refuse(t, rdb, migrate.Apply, same, storeerr.Invalid, "share their keys with the current layout")
		refuse(t, rdb, migrate.Retire, same, storeerr.Invalid, "share their keys with the current layout")
		ambiguous := "1 values of untagged rows may be bytes or base64 text, 3 are no base64"
		refuse(t, rdb, migrate.Apply, migrate.Options{From: "app", To: "new"}, storeerr.Invalid, ambiguous)
		refuse(t, rdb, migrate.Apply, migrate.Options{From: "app", To: "app", InPlace: true}, storeerr.Invalid, ambiguous)
		refuse(t, rdb, migrate.Retire, migrate.Options{From: "app", To: "new"}, storeerr.Invalid, ambiguous)

		o := migrate.Options{From: "app", To: "new", Values: migrate.Base64}
		expect(t, rdb, migrate.Apply, o, "v3-untagged 5: tombstones 1 damaged 3 written 1 ambiguous 1 raw 3\n")
		if got := contents(t, rdb, "new"); !slices.Equal(got, []string{`"text" "\x00\xff" 0`}) {
			t.Errorf("migrated %q", got)
		}
		o = migrate.Options{From: "app", To: "raw", Values: migrate.Raw}
		expect(t, rdb, migrate.Apply, o, "v3-untagged 5: expired 1 tombstones 1 written 3 ambiguous 1 raw 3\n")
		if got := contents(t, rdb, "raw"); !slices.Contains(got, `"text" "AP8=" 0`) {
			t.Errorf("migrated %q", got)
		}
	})
}

func TestUntaggedInPlace(t *testing.T) {
	each(t, func(t *testing.T, rdb redis.UniversalClient) {
		ctx := t.Context()
		k := layUntagged(t, rdb, true)
		o := migrate.Options{From: "app", To: "app", InPlace: true, Values: migrate.Raw, Problem: func(err error) { t.Error(err) }}
		expect(t, rdb, migrate.Plan, o, "v3-untagged 5: ready 5 ambiguous 1 raw 3\n")
		expect(t, rdb, migrate.Apply, o, "v3-untagged 5: written 5 ambiguous 1 raw 3\n")
		want := []string{`"bytes" "\x00\xff" 0`, `"expires" "!" 4102444800000`, `"text" "AP8=" 0`}
		if got := contents(t, rdb, "app"); !slices.Equal(got, want) {
			t.Errorf("rewritten %q, want %q", got, want)
		}
		for key, want := range map[string]string{
			"bytes": guid + " 11 false", "gone": "11 11 true", "expired": guid + " 10 false",
		} {
			row, err := rdb.ZRangeWithScores(ctx, k.Row(key), 0, -1).Result()
			must(t, err)
			m, err := opaque.DecodeMember(row[0].Member.(string))
			must(t, err)
			if got := fmt.Sprintf("%s %v %v", m.Version, row[0].Score, m.Tombstone); len(row) != 1 || got != want {
				t.Errorf("row %q is %d members, the newest %s; want %s", key, len(row), got, want)
			}
		}
		aside, err := rdb.ZRangeWithScores(ctx, k.Quarantine("bytes"), 0, -1).Result()
		must(t, err)
		if len(aside) != 2 || aside[0].Score != 10 || aside[1].Score != 11 || aside[1].Member != "\x95\xa5bytes\xa2\x00\xff\xd9\x20"+guid+"\xff\x00" {
			t.Errorf("put aside: %v", aside)
		}
		due, err := rdb.ZRange(ctx, k.Cleanup(), 0, -1).Result()
		must(t, err)
		if slices.Sort(due); !slices.Equal(due, []string{"expired", "expires", "gone"}) {
			t.Errorf("due for collection: %q", due)
		}
		store, err := opaque.New(rdb, "app")
		must(t, err)
		_, err = store.Write(ctx, opaque.Batch{
			Conditions: []opaque.Condition{opaque.VersionIs("bytes", guid)},
			Mutations:  []opaque.Mutation{opaque.Put("bytes", "newer", opaque.Never())},
		})
		must(t, err)

		expect(t, rdb, migrate.Apply, o, "v3-untagged 5: done 5\n")
		expect(t, rdb, migrate.Retire, o, "v3-untagged 5: retired 5\n")
		expect(t, rdb, migrate.Retire, o, "")
		for _, key := range keys(t, rdb) {
			if keyspace.Identify(key).Role == keyspace.Quarantine {
				t.Errorf("%s is left", key)
			}
		}
	})
}

// TestUntaggedAsideStays holds that what was put aside stays as long as the row
// has no equal, and where something else was put aside too.
func TestUntaggedAsideStays(t *testing.T) {
	each(t, func(t *testing.T, rdb redis.UniversalClient) {
		ctx := t.Context()
		k := layUntagged(t, rdb, false)
		var problems []string
		o := migrate.Options{From: "app", To: "app", InPlace: true, Problem: func(err error) { problems = append(problems, err.Error()) }}
		expect(t, rdb, migrate.Apply, o, "v3-untagged 4: written 4 raw 3\n")
		must(t, rdb.Del(ctx, k.Row("bytes")).Err())
		must(t, rdb.ZAdd(ctx, k.Quarantine("expires"), redis.Z{Score: 1, Member: "damage"}).Err())
		must(t, rdb.Del(ctx, k.Row("gone")).Err())
		expect(t, rdb, migrate.Retire, o, "v3-untagged 4: retired 2 kept 2\n")
		slices.Sort(problems)
		if len(problems) != 2 || !strings.Contains(problems[0], "holds members that do not decode") || !strings.Contains(problems[1], `key "bytes" has no row`) {
			t.Errorf("problems %q", problems)
		}
		left, err := rdb.Exists(ctx, k.Quarantine("bytes"), k.Quarantine("expires")).Result()
		if err != nil || left != 2 {
			t.Errorf("%d of 2 are left: %v", left, err)
		}
	})
}

// TestUntaggedSnapshot holds that a row of which an open snapshot reads an older
// version is left as it is, and done when the snapshot has ended.
func TestUntaggedSnapshot(t *testing.T) {
	each(t, func(t *testing.T, rdb redis.UniversalClient) {
		ctx := t.Context()
		k := layUntagged(t, rdb, false)
		must(t, rdb.Set(ctx, k.Sequence(), "10", 0).Err())
		store, err := opaque.New(rdb, "app")
		must(t, err)
		snapshot, err := store.OpenSnapshot(ctx, "")
		must(t, err)
		must(t, rdb.Set(ctx, k.Sequence(), "20", 0).Err())
		before, err := rdb.ZRangeWithScores(ctx, k.Row("bytes"), 0, -1).Result()
		must(t, err)
		o := migrate.Options{From: "app", To: "app", InPlace: true}
		expect(t, rdb, migrate.Apply, o, "v3-untagged 4: written 2 raw 3 kept 2\n")
		after, err := rdb.ZRangeWithScores(ctx, k.Row("bytes"), 0, -1).Result()
		must(t, err)
		if !slices.Equal(before, after) || rdb.Exists(ctx, k.Quarantine("bytes")).Val() != 0 {
			t.Errorf("the row that is read was changed: %v", after)
		}
		_, err = store.DropSnapshot(ctx, snapshot.ID)
		must(t, err)
		expect(t, rdb, migrate.Apply, o, "v3-untagged 4: done 2 written 2 raw 1\n")
	})
}

func TestUntaggedDamage(t *testing.T) {
	each(t, func(t *testing.T, rdb redis.UniversalClient) {
		ctx := t.Context()
		k := layUntagged(t, rdb, false)
		must(t, rdb.ZAdd(ctx, k.Row("cut"), redis.Z{Score: 1, Member: "\x95\xa3cut"}).Err())
		must(t, rdb.ZAdd(ctx, k.Row("strange"), redis.Z{Score: 1, Member: "\x95\xa5other\xa1!\xa11\xff\x00"}).Err())
		must(t, rdb.Set(ctx, k.Row("foreign"), "", 0).Err())
		var problems []string
		o := migrate.Options{From: "app", To: "app", InPlace: true, Problem: func(err error) { problems = append(problems, err.Error()) }}
		expect(t, rdb, migrate.Apply, o, "v3-untagged 6: damaged 2 written 4 raw 3\n")
		slices.Sort(problems)
		if len(problems) != 2 || !strings.Contains(problems[0], "another key") || !strings.Contains(problems[1], "the body does not decode") {
			t.Errorf("problems %q", problems)
		}
	})
}
