package migrate_test

// Whatever could be lost where old keys say two things, or nothing that reads.

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/migrate"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// told collects the problems of runs.
type told struct{ problems []string }

func (p *told) add(err error) { p.problems = append(p.problems, err.Error()) }

// has fails unless a problem says so, and forgets all.
func (p *told) has(t *testing.T, says string) {
	t.Helper()
	if !slices.ContainsFunc(p.problems, func(line string) bool { return strings.Contains(line, says) }) {
		t.Errorf("no problem with %q in %q", says, p.problems)
	}
	p.problems = nil
}

// TestIndexSaysOtherwise holds that a row of which the index of opaque-v1 has
// another value, version or expiry is neither written nor retired.
func TestIndexSaysOtherwise(t *testing.T) {
	single(t, func(t *testing.T, rdb redis.UniversalClient) {
		ctx := t.Context()
		for key, entry := range map[string]string{
			"value": `["Yg==","1",0]`, "version": `["YQ==","2",0]`, "expiry": `["YQ==","1",4102444800000]`, "none": `"YQ=="`, "same": `["YQ==",1,"0"]`,
		} {
			must(t, rdb.HSet(ctx, v1+"record:"+sum(key), "key", key, "bytes", "YQ==", "version", "1", "expiresAtMs", "0").Err())
			must(t, rdb.HSet(ctx, v1+"index", key, entry).Err())
		}
		must(t, rdb.HSet(ctx, v1+"record:"+sum("over"), "key", "over", "bytes", "YQ==", "version", "1", "expiresAtMs", "1000").Err())
		must(t, rdb.HSet(ctx, v1+"index", "over", `["YQ==","2",0]`).Err())
		var p told
		o := migrate.Options{From: "app", To: "app", Problem: p.add}
		expect(t, rdb, migrate.Plan, o, "opaque-v1 6: ready 1 collisions 5\n")
		p.has(t, `the index has key "over" otherwise`)
		refuse(t, rdb, migrate.Apply, o, storeerr.Conflict, "5 records of layout opaque-v1")
		o.SkipCollisions = true
		expect(t, rdb, migrate.Apply, o, "opaque-v1 6: collisions 5 written 1\n")
		expect(t, rdb, migrate.Retire, o, "opaque-v1 6: done 1 collisions 5 retired 1 kept 5\n")
		if left := rdb.HLen(ctx, v1+"index").Val(); left != 5 {
			t.Errorf("the index has %d entries, want 5", left)
		}
	})
}

// TestIndexAlone holds that an entry without a record goes only where the current
// row has its value and its expiry.
func TestIndexAlone(t *testing.T) {
	single(t, func(t *testing.T, rdb redis.UniversalClient) {
		ctx := t.Context()
		rows, err := opaque.New(rdb, "app")
		must(t, err)
		_, err = rows.Write(ctx, opaque.Batch{Mutations: []opaque.Mutation{
			opaque.Put("same", "a", opaque.At(farOff)), opaque.Put("longer", "a", opaque.At(farOff)),
		}})
		must(t, err)
		must(t, rdb.HSet(ctx, v1+"index",
			"same", fmt.Sprintf(`["YQ==","1",%d]`, farOff), "longer", `["YQ==","1",0]`, "over", `["YQ==","1",1000]`).Err())
		dry := migrate.Options{From: "app", To: "app", DryRun: true}
		expect(t, rdb, migrate.Plan, dry, "opaque-v1 3: done 1 expired 1 damaged 1\n")
		expect(t, rdb, migrate.Retire, dry, "opaque-v1 3: done 1 expired 1 damaged 1 retired 2 kept 1\n")
		expect(t, rdb, migrate.Retire, migrate.Options{From: "app", To: "app"}, "opaque-v1 3: done 1 expired 1 damaged 1 retired 2 kept 1\n")
		if left := rdb.HKeys(ctx, v1+"index").Val(); !slices.Equal(left, []string{"longer"}) {
			t.Errorf("the index has %q", left)
		}
	})
}

// TestStrays holds that keys are not passed over whose names begin as those of a
// layout, and that its counter stays while there are any.
func TestStrays(t *testing.T) {
	each(t, func(t *testing.T, rdb redis.UniversalClient) {
		ctx := t.Context()
		must(t, rdb.HSet(ctx, "app:opaque:6B4a", "bytes", "x", "version", "1").Err()) // hex in any case
		must(t, rdb.HSet(ctx, "app:opaque:6G", "bytes", "x", "version", "2").Err())
		must(t, rdb.HSet(ctx, "app:opaque:"+strings.Repeat("61", 1025), "bytes", "x", "version", "3").Err())
		must(t, rdb.RPush(ctx, "app:opaque:queue", "of somebody else").Err())
		must(t, rdb.Set(ctx, "app:opaque:version", 3, 0).Err())
		must(t, rdb.HSet(ctx, v1+"record:ABC", "key", "k").Err())
		must(t, rdb.Set(ctx, v1+"version", 3, 0).Err())
		must(t, rdb.Set(ctx, "app:payload:\xff", "x", 0).Err())
		must(t, rdb.Set(ctx, "app:{relocation}:root:"+strings.Repeat("r", 4097), "x", 0).Err())
		var p told
		o := migrate.Options{From: "app", To: "app", Problem: p.add}
		expect(t, rdb, migrate.Apply, o, "opaque-v1 1: damaged 1\ntagless 3: damaged 2 written 1\npayload 1: damaged 1\nrelocation-root 1: damaged 1\n")
		p.has(t, "its name begins as those of layout tagless, and is none of it")
		if got := contents(t, rdb, "app"); !slices.Equal(got, []string{`"kJ" "x" 0`}) {
			t.Errorf("migrated %q", got)
		}
		expect(t, rdb, migrate.Retire, o, "opaque-v1 1: damaged 1 kept 1\ntagless 3: done 1 damaged 2 retired 1 kept 2\n"+
			"payload 1: damaged 1 kept 1\nrelocation-root 1: damaged 1 kept 1\n")
		for _, counter := range []string{"app:opaque:version", v1 + "version"} {
			if rdb.Exists(ctx, counter).Val() != 1 {
				t.Errorf("%s is gone", counter)
			}
		}
	})
}

// TestDeletedElsewhere holds that what one layout has deleted another one does not
// bring back.
func TestDeletedElsewhere(t *testing.T) {
	single(t, func(t *testing.T, rdb redis.UniversalClient) {
		ctx := t.Context()
		k, err := opaque.NewKeys("app")
		must(t, err)
		must(t, rdb.HSet(ctx, "app:opaque:61", "bytes", "old", "version", "1").Err())
		must(t, rdb.ZAdd(ctx, k.Row("a"), redis.Z{Score: 7, Member: "\x95\xa1a\xa0\xa0\xff\x01"}).Err())
		must(t, rdb.Set(ctx, k.Sequence(), "7", 0).Err())
		var p told
		o := migrate.Options{From: "app", To: "new", Problem: p.add}
		expect(t, rdb, migrate.Plan, o, "v3-untagged 1: tombstones 1\ntagless 1: collisions 1\n")
		p.has(t, `layout v3-untagged has "a" deleted`)
		refuse(t, rdb, migrate.Apply, o, storeerr.Conflict, "nothing has changed")

		o = migrate.Options{From: "app", To: "app", InPlace: true, SkipCollisions: true, Problem: p.add}
		expect(t, rdb, migrate.Apply, o, "v3-untagged 1: written 1\ntagless 1: collisions 1\n")
		p.problems = nil
		expect(t, rdb, migrate.Apply, o, "v3-untagged 1: done 1\ntagless 1: collisions 1\n")
		p.has(t, `key "a" was deleted in the current layout`)
		if got := contents(t, rdb, "app"); len(got) != 0 {
			t.Errorf("there is %q", got)
		}
	})
}

// TestQuarantineOfOthers holds that nothing goes from a quarantine that is not an
// old version of its row.
func TestQuarantineOfOthers(t *testing.T) {
	single(t, func(t *testing.T, rdb redis.UniversalClient) {
		ctx := t.Context()
		k, err := opaque.NewKeys("app")
		must(t, err)
		untagged := func(key, value string) string { return fmt.Sprintf("\x95\xa1%s\xa1%s\xa11\xff\x00", key, value) }
		tagged := string(opaque.Member{Key: "b", Value: "w", Version: "9"}.Append(nil))
		must(t, rdb.ZAdd(ctx, k.Row("a"), redis.Z{Score: 1, Member: untagged("z", "!")}, redis.Z{Score: 3, Member: untagged("a", "v")}).Err())
		must(t, rdb.ZAdd(ctx, k.Row("b"), redis.Z{Score: 3, Member: untagged("b", "v")}).Err())
		must(t, rdb.ZAdd(ctx, k.Quarantine("b"), redis.Z{Score: 9, Member: tagged}).Err())
		must(t, rdb.ZAdd(ctx, k.Quarantine("c"), redis.Z{Score: 9, Member: "what a repair put aside"}).Err())
		must(t, rdb.Set(ctx, k.Sequence(), "9", 0).Err())
		var p told
		o := migrate.Options{From: "app", To: "app", InPlace: true, Problem: p.add}
		expect(t, rdb, migrate.Apply, o, "v3-untagged 2: written 2 raw 2\n")
		expect(t, rdb, migrate.Retire, o, "v3-untagged 2: kept 2\n")
		if got := strings.Join(p.problems, "\n"); !strings.Contains(got, "it holds a version of another key") || !strings.Contains(got, "what a repair put aside is with the old members") {
			t.Errorf("problems %s", got)
		}
		if a, b := rdb.ZCard(ctx, k.Quarantine("a")).Val(), rdb.ZCard(ctx, k.Quarantine("b")).Val(); a != 2 || b != 2 {
			t.Errorf("the quarantines have %d and %d members", a, b)
		}
	})
}

// TestValuesSaidAgain holds that rows which are left of a run with base64 are not
// rewritten as bytes by the next.
func TestValuesSaidAgain(t *testing.T) {
	single(t, func(t *testing.T, rdb redis.UniversalClient) {
		layUntagged(t, rdb, true)
		o := migrate.Options{From: "app", To: "app", InPlace: true, Values: migrate.Base64}
		expect(t, rdb, migrate.Apply, o, "v3-untagged 5: damaged 3 written 2 ambiguous 1 raw 3\n")
		o.Values = migrate.Unsaid
		refuse(t, rdb, migrate.Apply, o, storeerr.Invalid, "the values of 1 rows that were rewritten before were base64 text, and 3 rows are left")
		expect(t, rdb, migrate.Retire, migrate.Options{From: "app", To: "app", InPlace: true, Values: migrate.Base64}, "v3-untagged 5: damaged 3 raw 3 retired 2\n")
	})
}

// TestDryRunsRefuse holds that a dry run promises nothing that the run does not
// keep.
func TestDryRunsRefuse(t *testing.T) {
	single(t, func(t *testing.T, rdb redis.UniversalClient) {
		ctx := t.Context()
		layUntagged(t, rdb, true)
		o := migrate.Options{From: "app", To: "app", DryRun: true}
		refuse(t, rdb, migrate.Apply, o, storeerr.Invalid, "share their keys with the current layout")
		o.InPlace = true
		refuse(t, rdb, migrate.Apply, o, storeerr.Invalid, "may be bytes or base64 text")

		o = migrate.Options{From: "app", To: "new", Values: migrate.Raw}
		expect(t, rdb, migrate.Apply, o, "v3-untagged 5: expired 1 tombstones 1 written 3 ambiguous 1 raw 3\n")
		old, err := opaque.New(rdb, "app")
		must(t, err)
		_, err = old.OpenSnapshot(ctx, "")
		must(t, err)
		o.DryRun = true
		expect(t, rdb, migrate.Retire, o, "v3-untagged 5: done 3 expired 1 tombstones 1 ambiguous 1 raw 3 kept 5\n")
		o.DryRun = false
		expect(t, rdb, migrate.Retire, o, "v3-untagged 5: done 3 expired 1 tombstones 1 ambiguous 1 raw 3 kept 5\n")
	})
}

// TestRowsThatStay holds that rows which are not untagged are named where those
// move, and that their counter stays with them.
func TestRowsThatStay(t *testing.T) {
	single(t, func(t *testing.T, rdb redis.UniversalClient) {
		ctx := t.Context()
		k := layUntagged(t, rdb, false)
		rows, err := opaque.New(rdb, "app")
		must(t, err)
		_, err = rows.Write(ctx, opaque.Batch{Mutations: []opaque.Mutation{opaque.Put("current", "x", opaque.Never())}})
		must(t, err)
		// The other drivers would not see it, yet it is there.
		must(t, rdb.ZRem(ctx, k.Index(), "current").Err())
		must(t, rdb.HDel(ctx, k.Map(), "current").Err())
		var p told
		o := migrate.Options{From: "app", To: "new", Problem: p.add}
		expect(t, rdb, migrate.Apply, o, "v3-untagged 4: expired 1 tombstones 1 written 2 raw 3\n")
		p.has(t, `rows that are not untagged (1) stay under the prefix "app"`)
		expect(t, rdb, migrate.Retire, o, "v3-untagged 4: done 2 expired 1 tombstones 1 raw 3 retired 4\n")
		if rdb.Exists(ctx, k.Sequence(), k.Row("current")).Val() != 2 {
			t.Errorf("left are %q", keys(t, rdb))
		}
	})
}

// TestStaysInPlace holds a row in place to the limits, and looks at the counter.
func TestStaysInPlace(t *testing.T) {
	single(t, func(t *testing.T, rdb redis.UniversalClient) {
		ctx := t.Context()
		k := layUntagged(t, rdb, false)
		must(t, rdb.ZAdd(ctx, k.Row("long"), redis.Z{Score: 9, Member: "\x95\xa4long\xa1!\xda\x10\x01" + strings.Repeat("v", 4097) + "\xff\x00"}).Err())
		must(t, rdb.Set(ctx, k.Sequence(), "10", 0).Err()) // lower than the score of a row
		var p told
		o := migrate.Options{From: "app", To: "app", InPlace: true, Problem: p.add}
		expect(t, rdb, migrate.Plan, o, "v3-untagged 5: ready 4 damaged 1 raw 4\n")
		p.has(t, "the counter is none, or lower than the scores of rows")
		must(t, rdb.Set(ctx, k.Sequence(), "20", 0).Err())
		expect(t, rdb, migrate.Apply, o, "v3-untagged 5: damaged 1 written 4 raw 4\n")
		if len(p.problems) != 1 || !strings.Contains(p.problems[0], "4097") {
			t.Errorf("problems %q", p.problems)
		}
	})
}
