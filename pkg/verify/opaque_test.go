// Tests that the versioned store's violations are found, and mended, exactly.

package verify_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/verify"
)

// fixture is a versioned store with a prefix of its own.
type fixture struct {
	rdb    *redis.Client
	prefix string
	store  *opaque.Store
	keys   opaque.Keys
}

func newFixture(t *testing.T, s testserver.Server) fixture {
	t.Helper()
	f := fixture{rdb: s.Client(t), prefix: "a[b]*" + s.Prefix(t)}
	var err error
	if f.store, err = opaque.New(f.rdb, f.prefix); err != nil {
		t.Fatal(err)
	}
	f.keys = f.store.Keys()
	return f
}

// do runs a command of raw Redis that must succeed.
func (f fixture) do(t *testing.T, args ...any) any {
	t.Helper()
	reply, err := f.rdb.Do(context.Background(), args...).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		t.Fatalf("%v: %v", args, err)
	}
	return reply
}

func (f fixture) now(t *testing.T) int64 {
	t.Helper()
	now, err := f.rdb.Time(context.Background()).Result()
	if err != nil {
		t.Fatal(err)
	}
	return now.UnixMilli()
}

func (f fixture) write(t *testing.T, mutations ...opaque.Mutation) {
	t.Helper()
	if _, err := f.store.Write(context.Background(), opaque.Batch{Mutations: mutations}); err != nil {
		t.Fatal(err)
	}
}

func (f fixture) quarantine(key string) string {
	return strings.Replace(f.keys.Row(key), ":opaque:", ":opaque-quarantine:", 1)
}

// sound writes rows of all kinds, and opens a snapshot halfway.
func (f fixture) sound(t *testing.T, rows int) {
	t.Helper()
	f.do(t, "INCRBY", f.keys.Sequence(), 100)
	var batch []opaque.Mutation
	for i := range rows {
		key := "sound/" + strconv.Itoa(i)
		switch i % 10 {
		case 1:
			batch = append(batch, opaque.Put(key, "v", opaque.At(f.now(t)+3_600_000)))
		case 2:
			batch = append(batch, opaque.Put("sound\x00"+strconv.Itoa(i)+"\xff", strings.Repeat("x", 300), opaque.Never()))
		default:
			batch = append(batch, opaque.Put(key, "value "+key, opaque.Never()))
		}
		if len(batch) == 1000 || i == rows-1 {
			f.write(t, batch...)
			batch = nil
		}
	}
	if _, err := f.store.OpenSnapshot(context.Background(), ""); err != nil {
		t.Fatal(err)
	}
	f.write(t, opaque.Put("sound/0", "newer", opaque.Never()), opaque.Delete("sound/3"))
	// Another driver's version is no number.
	f.addVersion(t, "sound/0", opaque.Member{Key: "sound/0", Version: "0123456789abcdef0123456789abcdef"}, 1)
}

// content is everything under the store's names that a condition picks.
func (f fixture) content(t *testing.T, pick func(key string) bool) map[string]string {
	t.Helper()
	ctx, content := context.Background(), map[string]string{}
	for it := f.rdb.Scan(ctx, 0, "*", 1000).Iterator(); it.Next(ctx); {
		key := it.Val()
		if !strings.HasPrefix(key, f.prefix) || !pick(key) {
			continue
		}
		switch kind := f.rdb.Type(ctx, key).Val(); kind {
		case "string":
			content[key] = f.rdb.Get(ctx, key).Val()
		case "zset":
			content[key] = fmt.Sprintf("%v", f.rdb.ZRangeWithScores(ctx, key, 0, -1).Val())
		case "hash":
			content[key] = fmt.Sprintf("%q", f.rdb.HGetAll(ctx, key).Val())
		default:
			content[key] = kind
		}
		content[key] += fmt.Sprint(f.rdb.PTTL(ctx, key).Val() >= 0)
	}
	return content
}

// soundRows is the content of the rows that sound wrote.
func (f fixture) soundRows(t *testing.T) map[string]string {
	t.Helper()
	names := map[string]bool{}
	for _, key := range f.rdb.ZRange(context.Background(), f.keys.Index(), 0, -1).Val() {
		names[f.keys.Row(key)] = strings.HasPrefix(key, "sound")
	}
	return f.content(t, func(key string) bool { return names[key] })
}

// run verifies, and returns what became of each code, sorted.
func (f fixture) run(t *testing.T, o verify.RunOptions) (found []verify.Result) {
	t.Helper()
	o.Prefix, o.Stores = f.prefix, []verify.Store{verify.StoreOpaque}
	for r, err := range verify.Run(t.Context(), f.rdb, o) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, r)
	}
	return found
}

// codesOf are the codes of results with one of these actions, sorted.
func codesOf(results []verify.Result, actions ...verify.Action) []verify.Code {
	var list []verify.Code
	for _, r := range results {
		if slices.Contains(actions, r.Action) {
			list = append(list, r.Code)
		}
	}
	slices.Sort(list)
	return list
}

func sorted(lists ...[]verify.Code) []verify.Code {
	return slices.Sorted(slices.Values(slices.Concat(lists...)))
}

func describe(results []verify.Result) string {
	var b strings.Builder
	for _, r := range results {
		fmt.Fprintf(&b, "\n  %s key %q at %q: want %s, found %s: %s %s", r.Code, r.Key, r.RedisKey, r.Expected, r.Found, r.Action, r.Detail)
	}
	return b.String()
}

// check holds that exactly what was planted is found, that a dry run changes
// nothing, and that repairing mends exactly what it should, once.
func (f fixture) check(t *testing.T, planted ...plant) {
	t.Helper()
	var found, mended, left, destroy []verify.Code
	for _, p := range planted {
		found, mended, left, destroy = append(found, p.found...), append(mended, p.mended...), append(left, p.left...), append(destroy, p.destroy...)
	}
	everything := func(string) bool { return true }
	rows, before := f.soundRows(t), f.content(t, everything)
	reported := f.run(t, verify.RunOptions{})
	if got, want := codesOf(reported, verify.Reported), sorted(found); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q:%s", got, want, describe(reported))
	}
	dry := f.run(t, verify.RunOptions{Repair: true, Destroy: destroy, DryRun: true})
	if got, want := len(codesOf(dry, verify.WouldRepair, verify.NotMendable)), len(found); got != want {
		t.Errorf("the dry run has %d plans, want %d:%s", got, want, describe(dry))
	}
	checkSame(t, before, f.content(t, everything))

	repaired := f.run(t, verify.RunOptions{Repair: true, Destroy: destroy})
	if got, want := codesOf(repaired, verify.Repaired), sorted(mended); !slices.Equal(got, want) {
		t.Errorf("repaired %q, want %q:%s", got, want, describe(repaired))
	}
	checkSame(t, rows, f.soundRows(t))
	again := f.run(t, verify.RunOptions{Repair: true, Destroy: destroy})
	if got, want := codesOf(again, verify.NotMendable, verify.Refused), sorted(left); !slices.Equal(got, want) || len(again) != len(left) {
		t.Errorf("left %q, want %q:%s", got, want, describe(again))
	}
}

// checkSame holds that what is stored did not change.
func checkSame(t *testing.T, before, after map[string]string) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if after[key] != before[key] {
			t.Errorf("%q was\n  %s\nand is\n  %s", key, before[key], after[key])
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d keys became %d", len(before), len(after))
	}
}

func TestSoundStore(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		f.check(t) // an empty one
		f.sound(t, 50)
		f.check(t)
	})
}

func TestPlants(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		for _, p := range append(plants(), alonePlants()...) {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				f := newFixture(t, s)
				f.sound(t, 20)
				f.sow(t, p)
				f.check(t, p)
				if !slices.Contains(p.left, verify.OpaqueCounterInvalid) {
					f.write(t, opaque.Put("sound/0", "the store works", opaque.Never()))
				}
			})
		}
	})
}

// TestAllPlants has every violation at once beside many sound rows.
func TestAllPlants(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rows := 10_000
		if !s.Real {
			rows = 300
		}
		f := newFixture(t, s)
		f.sound(t, rows)
		f.sow(t, plants()...)
		f.check(t, plants()...)
		f.write(t, opaque.Put("sound/0", "the store works", opaque.Never()))
	})
}

func TestRunRefusesCodes(t *testing.T) {
	t.Parallel()
	for _, code := range codes("nonsense", verify.OpaqueBacklog) {
		for _, err := range verify.Run(t.Context(), nil, verify.RunOptions{Prefix: "p", Destroy: codes(code)}) {
			if !errors.Is(err, storeerr.Invalid) {
				t.Errorf("%s: %v", code, err)
			}
		}
	}
}
