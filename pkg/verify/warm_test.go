// Tests of the warm store's checks: what is planted is found, and nothing else.
package verify_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/verify"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

var (
	users  = warm.Segment{Name: "users"}
	online = warm.Segment{Namespace: "eu", Name: "online"}
)

func TestWarmPlanted(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb := s.Client(t)
		t.Run("nothing", func(t *testing.T) { t.Parallel(); newWarmField(t, rdb, s.Prefix(t), many).check(nil) })
		for _, p := range warmPlants() {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				newWarmField(t, rdb, s.Prefix(t), few).check([]warmPlant{p})
			})
		}
		t.Run("all", func(t *testing.T) { t.Parallel(); newWarmField(t, rdb, s.Prefix(t), many).check(warmPlants()) })
	})
}

// check plants violations, finds exactly those, mends what can be, and finds
// what is left.
func (f *warmField) check(planted []warmPlant) {
	f.t.Helper()
	before := f.contents()
	var want []string
	mended := 0
	for _, p := range planted {
		p.plant(f)
		want, mended = append(want, p.want...), mended+p.mended
	}
	slices.Sort(want)
	for _, o := range []verify.RunOptions{{}, {Repair: true, DryRun: true}, {Repair: true}} {
		got, outcomes := f.verify(o)
		if !slices.Equal(got, want) {
			f.t.Fatalf("%+v: found\n%s\nwant\n%s", o, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		action := map[bool]verify.Action{true: verify.WouldRepair, false: verify.Repaired}[o.DryRun]
		repaired := 0
		for _, outcome := range outcomes {
			if outcome.Action == action {
				repaired++
			}
		}
		if o.Repair && repaired != mended {
			f.t.Errorf("%+v: %d are mended, want %d: %v", o, repaired, mended, outcomes)
		}
	}
	left, outcomes := f.verify(verify.RunOptions{Repair: true})
	if len(left) != len(want)-mended {
		f.t.Errorf("after mending there is\n%s", strings.Join(left, "\n"))
	}
	for text, outcome := range outcomes {
		if outcome.Action != verify.NotMendable && outcome.Action != verify.NotNamed {
			f.t.Errorf("a second repair: %s: %v", text, outcome)
		}
	}
	if after := f.contents(); !maps.Equal(after, before) {
		f.t.Error("the sound chunks have changed")
	}
}

func TestWarmNamedRepairs(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newWarmField(t, s.Client(t), s.Prefix(t), few)
		before := f.contents()
		for _, p := range warmPlants() {
			if slices.Contains([]string{"no token", "no payload", "no payload, no index", "chunk is a string", "index is a string"}, p.name) {
				p.plant(f)
			}
		}
		f.verify(verify.RunOptions{Destroy: []verify.Code{
			verify.WarmTokenMissing, verify.WarmPayloadMissing, verify.WarmChunkType, verify.WarmIndexType,
		}, Repair: true})
		if left, _ := f.verify(verify.RunOptions{}); len(left) > 0 {
			t.Errorf("left is\n%s", strings.Join(left, "\n"))
		}
		if chunk, err := f.store.Get(t.Context(), users, 9); err != nil || string(chunk.Payload) != soundDelta || len(chunk.Token) != 36 {
			t.Errorf("the chunk that had no token is %+v, %v", chunk, err)
		}
		for _, n := range []uint16{10, 11, 13} {
			if _, err := f.store.Get(t.Context(), users, n); !errors.Is(err, storeerr.NotFound) {
				t.Errorf("chunk %d: %v, want not found", n, err)
			}
		}
		var listed []uint16
		for chunk := range f.store.List(t.Context(), warm.Segment{Name: "retyped"}, warm.ListOptions{}) {
			listed = append(listed, chunk.Number)
		}
		if !slices.Equal(listed, []uint16{1}) {
			t.Errorf("the index that was a string lists %v, want 1", listed)
		}
		if after := f.contents(); !maps.Equal(after, before) {
			t.Error("the sound chunks have changed")
		}
	})
}

// A mend looks again: what is no longer so is left alone.
func TestWarmMendLooksAgain(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := t.Context()
		f := newWarmField(t, s.Client(t), s.Prefix(t), few)
		f.rdb.ZAdd(ctx, f.index(), redis.Z{Score: 1, Member: 1}, redis.Z{Score: 2, Member: 2}, redis.Z{Score: 3, Member: "x"})
		f.chunk(f.rdb, users, 3, soundDelta)
		f.rdb.ZRem(ctx, f.index(), 3)
		f.chunk(f.rdb, users, 4, soundDelta)
		f.rdb.ZRem(ctx, f.index(), 4)
		var found []verify.Finding
		for finding, err := range verify.Warm(ctx, f.rdb, f.prefix, verify.Options{}) {
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, finding)
		}
		f.chunk(f.rdb, users, 1, soundDelta)              // created meanwhile
		f.rdb.Del(ctx, f.key(3))                          // deleted meanwhile
		f.rdb.HDel(ctx, f.key(4), "b")                    // damaged meanwhile
		f.rdb.Set(ctx, f.store.ChunkKey(users, 0), "", 0) // of no concern
		f.rdb.Set(ctx, strings.TrimSuffix(f.index(), "idx")+"c:x", "", 0)
		want := map[string]verify.Action{
			"warm-index-orphan users 1": verify.AlreadySound, "warm-index-orphan users 2": verify.Repaired,
			"warm-index-missing users 3": verify.AlreadySound, "warm-index-missing users 4": verify.Refused,
			`warm-index-member users "x"`: verify.Refused,
		}
		if len(found) != len(want) {
			t.Errorf("%d findings, want %d", len(found), len(want))
		}
		for _, finding := range found {
			if outcome, err := finding.Mend(ctx); err != nil || outcome.Action != want[f.told(finding)] {
				t.Errorf("%s: %v, %v, want %s", f.told(finding), outcome, err, want[f.told(finding)])
			}
		}
		if members := f.rdb.ZRangeByScore(ctx, f.index(), &redis.ZRangeBy{Min: "0", Max: "99"}).Val(); !slices.Equal(members, []string{"1", "x"}) {
			t.Errorf("the index has %q below 100, want 1 and x", members)
		}
	})
}

// Beside writers nothing is found.
func TestWarmBesideWriters(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newWarmField(t, s.Client(t), s.Prefix(t), few)
		ctx, stop := context.WithCancel(t.Context())
		var writers sync.WaitGroup
		rounds := make(chan struct{}, 1000)
		for w := range uint16(4) {
			writers.Go(func() {
				for n := w * 20; ctx.Err() == nil; n = w*20 + (n+1)%20 {
					created, err := f.store.Create(t.Context(), users, n, []byte(soundDelta))
					var updated warm.Result
					if err == nil {
						updated, err = f.store.Update(t.Context(), users, n, []byte(deltaOf(roaring.BitmapOf(uint32(n)), roaring.New())), created.Token)
					}
					if err == nil {
						_, err = f.store.Delete(t.Context(), users, n, updated.Token)
					}
					if err != nil {
						t.Errorf("writing: %v", err)
						return
					}
					select {
					case rounds <- struct{}{}:
					default:
					}
				}
			})
		}
		for range 10 {
			<-rounds // something was written since the last time
			if found, _ := f.verify(verify.RunOptions{}); len(found) > 0 {
				t.Errorf("found beside writers:\n%s", strings.Join(found, "\n"))
			}
		}
		stop()
		writers.Wait()
	})
}

func TestWarmOptions(t *testing.T) {
	t.Parallel()
	f := newWarmField(t, testserver.Embedded(t).Client(t), "app", few)
	for _, p := range warmPlants() {
		if strings.Contains(p.name, "payload") || p.name == "overlap" {
			p.plant(f)
		}
	}
	var checked int64
	got, _ := f.verify(verify.RunOptions{Options: verify.Options{NoPayload: true, Progress: func(n int64) { checked = n }}})
	want := []string{"warm-index-missing users 11", "warm-payload-length users 23", "warm-payload-missing users 10", "warm-payload-missing users 11"}
	if !slices.Equal(got, want) {
		t.Errorf("without payloads there is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if all := int64(2*(few+1) + 9); checked != all {
		t.Errorf("%d chunks looked at, want %d", checked, all)
	}
	for range verify.Warm(t.Context(), f.rdb, "app", verify.Options{}) {
		break // a reader may stop
	}
	for _, err := range verify.Warm(t.Context(), f.rdb, "a{b", verify.Options{}) {
		if !errors.Is(err, storeerr.Invalid) {
			t.Errorf("a prefix with a brace: %v", err)
		}
	}
}

// Other stores are left alone, whatever characters their prefixes hold.
func TestWarmPrefixes(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb := s.Client(t)
		prefixes := []string{"", "a*c", "abc", "a?c", "a[b]c", `a\c`}
		for _, prefix := range prefixes {
			f := newWarmField(t, rdb, prefix, few)
			rdb.ZAdd(t.Context(), f.index(), redis.Z{Score: 1, Member: 1})
		}
		for _, prefix := range prefixes {
			f := &warmField{t: t, rdb: rdb, prefix: prefix}
			if got, _ := f.verify(verify.RunOptions{}); !slices.Equal(got, []string{"warm-index-orphan users 1"}) {
				t.Errorf("prefix %q: found %q", prefix, got)
			}
		}
	})
}

func TestWarmCluster(t *testing.T) {
	t.Parallel()
	cluster := testserver.StartCluster(t)
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs()})
	t.Cleanup(func() { _ = c.Close() })
	store, err := warm.New(c, "app")
	if err != nil {
		t.Fatal(err)
	}
	f := &warmField{t: t, rdb: c, prefix: "app", store: store}
	var want []string
	for i := range 30 {
		seg := warm.Segment{Name: fmt.Sprintf("segment-%02d", i)}
		f.chunk(c, seg, 1, soundDelta)
		f.chunk(c, seg, 2, soundDelta)
		c.ZRem(t.Context(), store.IndexKey(seg), 2)
		want = append(want, fmt.Sprintf("warm-index-missing %s 2", seg))
	}
	if got, _ := f.verify(verify.RunOptions{Repair: true}); !slices.Equal(got, want) {
		t.Errorf("found\n%s", strings.Join(got, "\n"))
	}
	if got, _ := f.verify(verify.RunOptions{}); len(got) > 0 {
		t.Errorf("after mending there is\n%s", strings.Join(got, "\n"))
	}
}
