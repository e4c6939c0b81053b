// Every violation of the warm store, planted one by one and all together.
package verify_test

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

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
