// Tests of what mending does to a store as a whole.

package verify_test

import (
	"context"
	"errors"
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

// Index, map and queue are made again from the rows when they had another type,
// in the same run.
func TestBookkeepingIsMadeAgain(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		f.sound(t, 50)
		before := f.content(t, func(key string) bool { return key == f.keys.Index() || key == f.keys.Map() })
		for _, key := range []string{f.keys.Index(), f.keys.Map(), f.keys.Cleanup()} {
			f.do(t, "DEL", key)
			f.do(t, "SET", key, "text")
		}
		want := codes(verify.OpaqueType, verify.OpaqueType, verify.OpaqueType)
		if found := f.run(t, verify.RunOptions{}); !slices.Equal(codesOf(found, verify.Reported), want) {
			t.Errorf("found%s", describe(found))
		}
		if left := f.run(t, verify.RunOptions{Repair: true}); !slices.Equal(codesOf(left, verify.NotNamed), want) {
			t.Errorf("without the code%s", describe(left))
		}
		f.run(t, verify.RunOptions{Repair: true, Destroy: codes(verify.OpaqueType)})
		checkSame(t, before, f.content(t, func(key string) bool { return key == f.keys.Index() || key == f.keys.Map() }))
		if left := f.run(t, verify.RunOptions{}); len(left) > 0 {
			t.Errorf("left%s", describe(left))
		}
	})
}

// What remains of a poison row is read again, and what was moved keeps its
// score.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		f.write(t, opaque.Put("k", "good", opaque.Never()), opaque.Put("empty", "v", opaque.Never()))
		f.do(t, "INCRBY", f.keys.Sequence(), 100)
		f.do(t, "ZADD", f.keys.Row("k"), 7, brokenTag, 8, brokenBody)
		f.do(t, "DEL", f.keys.Row("empty"))
		f.do(t, "ZADD", f.keys.Row("empty"), 3, brokenTag)
		f.do(t, "ZADD", f.keys.Cleanup(), 1, "k", 2, "empty")
		found := f.run(t, verify.RunOptions{Repair: true})
		if got := codesOf(found, verify.Repaired); !slices.Equal(got, codes(verify.OpaquePoisonRow, verify.OpaquePoisonRow)) {
			t.Errorf("repaired%s", describe(found))
		}
		moved := f.rdb.ZRangeWithScores(t.Context(), f.quarantine("k"), 0, -1).Val()
		if want := []redis.Z{{Score: 7, Member: brokenTag}, {Score: 8, Member: brokenBody}}; !slices.Equal(moved, want) {
			t.Errorf("the quarantine has %v", moved)
		}
		_, readings, err := f.store.Read(t.Context(), "k", "empty")
		if err != nil || readings[0].Row.Value != "good" || readings[1].Found || readings[1].Err != nil {
			t.Errorf("read %+v, %v", readings, err)
		}
		if n := f.rdb.ZCard(t.Context(), f.keys.Index()).Val() + f.rdb.HLen(t.Context(), f.keys.Map()).Val(); n != 2 {
			t.Errorf("index and map name %d keys, want k in both", n)
		}
	})
}

// A store of the layout without a tag is not taken apart.
func TestOlderStoreIsLeftAlone(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		for i := range 20 {
			key := "old/" + strconv.Itoa(i)
			f.do(t, "ZADD", f.keys.Row(key), i+1, olderBody)
			f.do(t, "ZADD", f.keys.Index(), 0, key)
			f.do(t, "HSET", f.keys.Map(), key, f.keys.Row(key))
			f.do(t, "ZADD", f.keys.Cleanup(), 1, key)
		}
		f.do(t, "SET", f.keys.Sequence(), 20)
		everything := func(string) bool { return true }
		before := f.content(t, everything)
		found := f.run(t, verify.RunOptions{Repair: true})
		if len(found) != 20 || slices.ContainsFunc(found, func(r verify.Result) bool {
			return r.Code != verify.OpaquePoisonOlder || r.Action != verify.NotNamed || !strings.HasPrefix(r.Key, "old/")
		}) {
			t.Errorf("found%s", describe(found))
		}
		checkSame(t, before, f.content(t, everything))
	})
}

// A finding that is no longer so is not mended.
func TestMendLooksAgain(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		f.write(t, opaque.Put("k", "v", opaque.Never()))
		f.do(t, "ZREM", f.keys.Index(), "k")
		f.do(t, "HSET", f.keys.Map(), "gone", f.keys.Row("gone"))
		var found []verify.Finding
		for finding, err := range verify.Opaque(t.Context(), f.rdb, f.prefix, verify.Options{}) {
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, finding)
		}
		f.write(t, opaque.Put("gone", "is back", opaque.Never()), opaque.Put("k", "v", opaque.Never()))
		if len(found) != 2 {
			t.Fatalf("found %v", found)
		}
		for _, finding := range found {
			outcome, err := finding.Mend(t.Context())
			if err != nil || outcome.Action != verify.AlreadySound {
				t.Errorf("%s: %+v, %v", finding.Code, outcome, err)
			}
		}
		if left := f.run(t, verify.RunOptions{}); len(left) > 0 {
			t.Errorf("left%s", describe(left))
		}
	})
}

// Two who mend a counter while others write leave it above every score.
func TestTwoRepairsOfACounter(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		for range 5 {
			f.write(t, opaque.Put("k", "v", opaque.Never()))
		}
		f.do(t, "SET", f.keys.Sequence(), 2)
		var mends []verify.Finding
		for range 2 {
			for finding, err := range verify.Opaque(t.Context(), f.rdb, f.prefix, verify.Options{}) {
				if err != nil || finding.Code != verify.OpaqueCounterBehind {
					t.Fatalf("found %+v, %v", finding, err)
				}
				mends = append(mends, finding)
			}
		}
		for i, want := range []verify.Action{verify.Repaired, verify.AlreadySound} {
			if outcome, err := mends[i].Mend(t.Context()); err != nil || outcome.Action != want {
				t.Errorf("mend %d: %+v, %v", i, outcome, err)
			}
			f.write(t, opaque.Put("k", "newer", opaque.Never()))
		}
		if got := f.rdb.Get(t.Context(), f.keys.Sequence()).Val(); got != "7" {
			t.Errorf("the counter is %s, want 7", got)
		}
	})
}

// A user who may not write is told so, and nothing has changed.
func TestDeniedRepair(t *testing.T) {
	t.Parallel()
	f := newFixture(t, testserver.Real(t))
	f.write(t, opaque.Put("k", "v", opaque.Never()))
	f.do(t, "ZREM", f.keys.Index(), "k")
	f.do(t, "ACL", "SETUSER", "bob", "on", "nopass", "~*", "+@all", "-zadd")
	options := *f.rdb.Options()
	options.Username, options.Password = "bob", "any"
	bob := redis.NewClient(&options)
	defer bob.Close()
	before := f.content(t, func(string) bool { return true })
	o := verify.RunOptions{Prefix: f.prefix, Stores: []verify.Store{verify.StoreOpaque}, Repair: true}
	var last verify.Result
	for r, err := range verify.Run(t.Context(), bob, o) {
		if last = r; err != nil {
			t.Fatal(err)
		}
	}
	if last.Action != verify.Failed || !last.Open() || !errors.Is(last.Err, storeerr.Denied) {
		t.Errorf("the mend ended with %+v", last)
	}
	checkSame(t, before, f.content(t, func(string) bool { return true }))
}

func TestCluster(t *testing.T) {
	t.Parallel()
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: testserver.StartCluster(t).Addrs(), DisableRoutingPolicies: true})
	defer client.Close()
	store, err := opaque.New(client, "app")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a", "b", "c"} {
		b := opaque.Batch{Mutations: []opaque.Mutation{opaque.Put(key, "v", opaque.Never())}}
		if _, err := store.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	keys := store.Keys()
	client.IncrBy(t.Context(), keys.Sequence(), 100)
	client.ZRem(t.Context(), keys.Index(), "a")
	client.ZAdd(t.Context(), keys.Row("b"), redis.Z{Score: 9, Member: brokenTag})
	client.ZAdd(t.Context(), keys.Cleanup(), redis.Z{Score: 1, Member: "b"})
	run := func() (found []verify.Result) {
		for r, err := range verify.Run(context.Background(), client, verify.RunOptions{Prefix: "app", Repair: true}) {
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, r)
		}
		return found
	}
	if found := run(); !slices.Equal(codesOf(found, verify.Repaired), codes(verify.OpaqueIndexMissing, verify.OpaquePoisonRow)) || found[0].Code != verify.OpaquePoisonRow {
		t.Errorf("repaired%s", describe(found))
	}
	if left := run(); !slices.Equal(codesOf(left, verify.NotMendable), codes(verify.OpaqueQuarantine)) || len(left) != 1 {
		t.Errorf("left%s", describe(left))
	}
}
