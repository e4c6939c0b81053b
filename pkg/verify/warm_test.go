// Tests of the warm store's checks: what is planted is found, and nothing else.
package verify_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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

// warmField is a warm store with sound chunks in two segments: all but those
// below 100, which are for planting.
type warmField struct {
	t      *testing.T
	rdb    redis.UniversalClient
	prefix string
	store  *warm.Store
	sound  int // chunks a segment
}

// Sound chunks a segment: few where there are many stores, and more than are
// asked for at once.
const (
	few  = 60
	many = 1200
)

func newWarmField(t *testing.T, rdb redis.UniversalClient, prefix string, sound int) *warmField {
	t.Helper()
	store, err := warm.New(rdb, prefix)
	if err != nil {
		t.Fatal(err)
	}
	f := &warmField{t: t, rdb: rdb, prefix: prefix, store: store, sound: sound}
	for _, seg := range []warm.Segment{users, online} {
		_, err := rdb.Pipelined(t.Context(), func(p redis.Pipeliner) error {
			for n := range uint16(sound) {
				f.chunk(p, seg, 100+n, deltaOf(roaring.BitmapOf(1, uint32(n)+2), roaring.BitmapOf(0)))
			}
			f.chunk(p, seg, 65535, deltaOf(roaring.New(), roaring.New()))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// chunk writes a chunk as other drivers leave it.
func (f *warmField) chunk(rdb redis.Cmdable, seg warm.Segment, n uint16, payload string) {
	rdb.HSet(f.t.Context(), f.store.ChunkKey(seg, n), "t", uuidOf(n), "b", payload)
	rdb.ZAdd(f.t.Context(), f.store.IndexKey(seg), redis.Z{Score: float64(n), Member: n})
}

func uuidOf(n uint16) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

func deltaOf(adds, removes *roaring.Bitmap) string {
	a, addsErr := adds.ToBytes()
	r, removesErr := removes.ToBytes()
	if err := errors.Join(addsErr, removesErr); err != nil {
		panic(err)
	}
	return string(slices.Concat(binary.LittleEndian.AppendUint32([]byte{1}, uint32(len(a))), a, r))
}

// warmPlant is one violation, or several that come of one cause.
type warmPlant struct {
	name   string
	plant  func(f *warmField)
	want   []string // findings as told
	mended int      // how many of them a repair mends
}

var soundDelta = deltaOf(roaring.BitmapOf(7), roaring.New())

func (f *warmField) key(n uint16) string { return f.store.ChunkKey(users, n) }
func (f *warmField) index() string       { return f.store.IndexKey(users) }

// warmPlants are all violations, each on chunks of its own.
func warmPlants() []warmPlant {
	ctx := context.Background()
	withPayload := func(n uint16, payload string) func(f *warmField) {
		return func(f *warmField) { f.chunk(f.rdb, users, n, payload) }
	}
	return []warmPlant{
		{"hash without index", func(f *warmField) { f.chunk(f.rdb, users, 1, soundDelta); f.rdb.ZRem(ctx, f.index(), 1) }, []string{"warm-index-missing users 1"}, 1},
		{"index without hash", func(f *warmField) { f.rdb.ZAdd(ctx, f.index(), redis.Z{Score: 2, Member: 2}) }, []string{"warm-index-orphan users 2"}, 1},
		{"index without hash, score wrong", func(f *warmField) { f.rdb.ZAdd(ctx, f.index(), redis.Z{Score: 2.5, Member: 3}) }, []string{"warm-index-orphan users 3"}, 1},
		{"score", func(f *warmField) {
			f.chunk(f.rdb, users, 4, soundDelta)
			f.rdb.ZAdd(ctx, f.index(), redis.Z{Score: 5, Member: 4})
		}, []string{"warm-index-score users 4"}, 1},
		{"score without end", func(f *warmField) {
			f.chunk(f.rdb, users, 5, soundDelta)
			f.rdb.ZAdd(ctx, f.index(), redis.Z{Score: math.Inf(1), Member: 5})
		}, []string{"warm-index-score users 5"}, 1},
		{"members", func(f *warmField) {
			for _, m := range []string{"007", "65536", "-1", "", "1.0", "+5", "abc"} {
				f.rdb.ZAdd(ctx, f.index(), redis.Z{Score: 7, Member: m})
			}
		}, []string{
			`warm-index-member users ""`, `warm-index-member users "+5"`, `warm-index-member users "-1"`, `warm-index-member users "007"`,
			`warm-index-member users "1.0"`, `warm-index-member users "65536"`, `warm-index-member users "abc"`,
		}, 7},
		{"member and its key", func(f *warmField) {
			f.rdb.ZAdd(ctx, f.index(), redis.Z{Score: 8, Member: "08"})
			f.rdb.HSet(ctx, strings.TrimSuffix(f.key(8), "8")+"08", "t", "x")
		}, []string{`warm-index-member users "08"`, "warm-unknown-key c:08"}, 0},
		{"no token", func(f *warmField) { f.chunk(f.rdb, users, 9, soundDelta); f.rdb.HDel(ctx, f.key(9), "t") }, []string{"warm-token-missing users 9"}, 0},
		{"no payload", func(f *warmField) { f.chunk(f.rdb, users, 10, soundDelta); f.rdb.HDel(ctx, f.key(10), "b") }, []string{"warm-payload-missing users 10"}, 0},
		{"no payload, no index", func(f *warmField) { f.rdb.HSet(ctx, f.key(11), "t", uuidOf(11)) }, []string{"warm-index-missing users 11", "warm-payload-missing users 11"}, 0},
		{"other fields", func(f *warmField) {
			f.chunk(f.rdb, users, 12, soundDelta)
			f.rdb.HSet(ctx, f.key(12), "u", "1", "v", "2")
		}, []string{"warm-fields users 12"}, 0},
		{"chunk is a string", func(f *warmField) { f.chunk(f.rdb, users, 13, soundDelta); f.retype(f.key(13)) }, []string{"warm-chunk-type users 13"}, 0},
		{"token in capitals without hyphens", func(f *warmField) {
			f.chunk(f.rdb, users, 14, soundDelta)
			f.rdb.HSet(ctx, f.key(14), "t", strings.ReplaceAll(uuidOf(14), "-", ""))
		}, []string{"warm-token-form users 14"}, 0},
		{"token of version 1", func(f *warmField) {
			f.chunk(f.rdb, users, 15, soundDelta)
			f.rdb.HSet(ctx, f.key(15), "t", "00000000-0000-1000-8000-000000000000")
		}, []string{"warm-token-form users 15"}, 0},
		{"long token", func(f *warmField) {
			f.chunk(f.rdb, users, 16, soundDelta)
			f.rdb.HSet(ctx, f.key(16), "t", strings.Repeat("t", 100_000))
		}, []string{"warm-token-form users 16"}, 0},
		{"TTL on chunk", func(f *warmField) { f.chunk(f.rdb, users, 17, soundDelta); f.rdb.PExpire(ctx, f.key(17), time.Hour) }, []string{"warm-ttl users 17"}, 1},
		{"TTL on index", func(f *warmField) { f.rdb.PExpire(ctx, f.store.IndexKey(online), time.Hour) }, []string{"warm-ttl eu/online"}, 1},
		{"payload cut", withPayload(18, soundDelta[:10]), []string{"warm-payload-damaged users 18"}, 0},
		{"payload of other bytes", withPayload(19, "\x01hello, world"), []string{"warm-payload-damaged users 19"}, 0},
		{"payload out of range", withPayload(20, deltaOf(roaring.BitmapOf(65536), roaring.New())), []string{"warm-payload-damaged users 20"}, 0},
		{"overlap", withPayload(21, deltaOf(roaring.BitmapOf(1, 2), roaring.BitmapOf(2, 3))), []string{"warm-payload-overlap users 21"}, 0},
		{"half too long", withPayload(22, "\x01\x01\x00\x10\x00"+strings.Repeat("x", 1<<20+1)), []string{"warm-payload-length users 22"}, 0},
		{"payload too long", withPayload(23, "\x01"+strings.Repeat("x", warm.MaxPayloadBytes)), []string{"warm-payload-length users 23"}, 0},
		{"payload of version 2", withPayload(24, "\x02"+soundDelta[1:]), []string{"warm-payload-unknown users 24"}, 0},
		{"payload empty", withPayload(25, ""), []string{"warm-payload-unknown users 25"}, 0},
		{"names", func(f *warmField) {
			for _, name := range []string{"c:70000", "c:01", "c:x", "idx2"} {
				f.rdb.Set(ctx, strings.TrimSuffix(f.index(), "idx")+name, "", 0)
			}
			f.rdb.Set(ctx, "{"+f.prefix+"|a..b|users}idx", "", 0)
		}, []string{"warm-unknown-key a..b", "warm-unknown-key c:01", "warm-unknown-key c:70000", "warm-unknown-key c:x", "warm-unknown-key idx2"}, 0},
		{"index is a string", func(f *warmField) {
			seg := warm.Segment{Name: "retyped"}
			f.chunk(f.rdb, seg, 1, soundDelta)
			f.retype(f.store.IndexKey(seg))
		}, []string{"warm-index-type retyped"}, 0},
		{"segment without index", func(f *warmField) {
			seg := warm.Segment{Name: "unindexed"}
			f.chunk(f.rdb, seg, 1, soundDelta)
			f.chunk(f.rdb, seg, 2, soundDelta)
			f.rdb.Del(ctx, f.store.IndexKey(seg))
		}, []string{"warm-index-missing unindexed 1", "warm-index-missing unindexed 2"}, 2},
	}
}

// retype makes a key a string.
func (f *warmField) retype(key string) {
	f.rdb.Del(f.t.Context(), key)
	f.rdb.Set(f.t.Context(), key, "string", 0)
}

// told is a finding in a few words.
func (f *warmField) told(found verify.Finding) string {
	text := string(found.Code)
	switch {
	case found.Member != "" || found.Code == verify.WarmIndexMember:
		text += fmt.Sprintf(" %s %q", found.Segment, found.Member)
	case found.Chunk != nil:
		text += fmt.Sprintf(" %s %d", found.Segment, *found.Chunk)
	case found.Segment != nil:
		text += " " + found.Segment.String()
	default:
		_, name, _ := strings.Cut(found.RedisKey, "}")
		if strings.Contains(found.RedisKey, "..") {
			name = strings.Split(found.RedisKey, "|")[1]
		}
		text += " " + name
	}
	if found.Prefix != f.prefix || found.Store != verify.StoreWarm || found.Expected == "" || found.Found == "" || len(found.Found) > 400 {
		f.t.Errorf("%s: %+v", text, found)
	}
	return text
}

// verify returns what is found, sorted, and what became of it.
func (f *warmField) verify(o verify.RunOptions) (told []string, outcomes map[string]verify.Outcome) {
	f.t.Helper()
	o.Prefix, o.Stores = f.prefix, []verify.Store{verify.StoreWarm}
	outcomes = map[string]verify.Outcome{}
	for r, err := range verify.Run(f.t.Context(), f.rdb, o) {
		if err != nil {
			f.t.Fatal(err)
		}
		text := f.told(r.Finding)
		told = append(told, text)
		outcomes[text] = r.Outcome
	}
	slices.Sort(told)
	return told, outcomes
}

// contents are the sound chunks and the segment without planted ones.
func (f *warmField) contents() map[string]string {
	f.t.Helper()
	all := map[string]string{}
	for _, seg := range []warm.Segment{users, online} {
		for chunk, err := range f.store.List(f.t.Context(), seg, warm.ListOptions{Payload: true}) {
			if chunk.Number >= 100 {
				all[fmt.Sprint(seg, chunk.Number)] = fmt.Sprintf("%s %x %v", chunk.Token, chunk.Payload, err)
			}
		}
	}
	if want := 2 * (f.sound + 1); len(all) != want {
		f.t.Errorf("%d sound chunks are listed, want %d", len(all), want)
	}
	return all
}

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
