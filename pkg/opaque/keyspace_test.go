// What tests of the store share: laying keys into a Redis, and the invariants
// of docs/storage.md that must hold after any mix of operations.

package opaque

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
)

// tb is what *testing.T and *rapid.T have in common.
type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// fixture is a store with a prefix of its own.
type fixture struct {
	*Store
	rdb *redis.Client
}

func newFixture(t testing.TB, s testserver.Server) fixture {
	rdb := s.Client(t)
	return fixture{mustStore(t, rdb, s.Prefix(t)), rdb}
}

func mustStore(t tb, rdb *redis.Client, prefix string) *Store {
	t.Helper()
	store, err := New(rdb, prefix)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// do runs commands of raw Redis that must succeed.
func (f fixture) do(t tb, args ...any) any {
	t.Helper()
	reply, err := f.rdb.Do(context.Background(), args...).Result()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return reply
}

func (f fixture) put(t tb, key, value string) *Applied {
	t.Helper()
	return f.write(t, Batch{Mutations: []Mutation{Put(key, value, Never())}})
}

func (f fixture) write(t tb, b Batch) *Applied {
	t.Helper()
	applied, err := f.Write(context.Background(), b)
	if err != nil {
		t.Fatal(err)
	}
	return applied
}

func (f fixture) delete(t tb, keys ...string) *Applied {
	t.Helper()
	var b Batch
	for _, key := range keys {
		b.Mutations = append(b.Mutations, Delete(key))
	}
	return f.write(t, b)
}

// makeDue lets the moment of everything in the cleanup queue come.
func (f fixture) makeDue(t tb) {
	t.Helper()
	f.do(t, "ZUNIONSTORE", f.keys.Cleanup(), 1, f.keys.Cleanup(), "WEIGHTS", 0)
}

// dump is everything under the store's keys, for comparing before and after.
func (f fixture) dump(t tb) map[string]string {
	t.Helper()
	ctx := context.Background()
	dump := map[string]string{}
	for it := f.rdb.Scan(ctx, 0, f.keys.domain+"*", 1000).Iterator(); it.Next(ctx); {
		key := it.Val()
		switch kind := f.rdb.Type(ctx, key).Val(); kind {
		case "string":
			dump[key] = f.rdb.Get(ctx, key).Val()
		case "zset":
			dump[key] = fmt.Sprintf("%v", f.rdb.ZRangeWithScores(ctx, key, 0, -1).Val())
		case "hash":
			dump[key] = fmt.Sprintf("%q", f.rdb.HGetAll(ctx, key).Val())
		default:
			dump[key] = kind
		}
	}
	return dump
}

// checkInvariants holds the keyspace against docs/storage.md. Versions must be those
// that this package issues.
func (f fixture) checkInvariants(t tb) {
	t.Helper()
	ctx := context.Background()
	index := f.rdb.ZRangeWithScores(ctx, f.keys.Index(), 0, -1).Val()
	rowKeys := f.rdb.HGetAll(ctx, f.keys.Map()).Val()
	counter := 0.0
	if text := f.rdb.Get(ctx, f.keys.Sequence()).Val(); text != "" {
		var err error
		if counter, err = strconv.ParseFloat(text, 64); err != nil {
			t.Fatalf("the counter reads %q", text)
		}
	}
	cleanup := map[string]float64{}
	for _, z := range f.rdb.ZRangeWithScores(ctx, f.keys.Cleanup(), 0, -1).Val() {
		cleanup[z.Member.(string)] = z.Score
	}
	if len(index) != len(rowKeys) {
		t.Errorf("%d keys in the index, %d in the map", len(index), len(rowKeys))
	}
	rows := 0
	for _, z := range index {
		key := z.Member.(string)
		if z.Score != 0 {
			t.Errorf("key %q has score %v in the index", key, z.Score)
		}
		if rowKeys[key] != f.keys.Row(key) {
			t.Errorf("the map says %q of key %q", rowKeys[key], key)
		}
		f.checkRow(t, key, counter, cleanup)
		delete(cleanup, key)
		rows++
	}
	for key := range cleanup {
		t.Errorf("the cleanup queue names key %q, which has no row", key)
	}
	stored := 0
	for it := f.rdb.Scan(ctx, 0, f.keys.domain+":*", 1000).Iterator(); it.Next(ctx); {
		if len(it.Val()) == len(f.keys.Row("")) && !slices.Contains([]string{f.keys.Index(), f.keys.Cleanup()}, it.Val()) {
			stored++
		}
		if ttl := f.rdb.PTTL(ctx, it.Val()).Val(); ttl > 0 && len(it.Val()) < len(f.keys.Scan("")) {
			t.Errorf("%s has a TTL of %s", it.Val(), ttl)
		}
	}
	if scans := len(f.rdb.ZRange(ctx, f.keys.SnapshotBoundary(), 0, -1).Val()); rows > stored && scans == 0 {
		t.Errorf("the index names %d rows, Redis has %d", rows, stored)
	}
}

func (f fixture) checkRow(t tb, key string, counter float64, cleanup map[string]float64) {
	t.Helper()
	members := f.rdb.ZRangeWithScores(context.Background(), f.keys.Row(key), 0, -1).Val()
	if len(members) == 0 {
		t.Errorf("key %q is in the index and has no row", key)
		return
	}
	seen := map[string]bool{}
	var newest Member
	for _, z := range members {
		m, err := DecodeMember(z.Member.(string))
		if err != nil || m.Key != key {
			t.Errorf("key %q has the member %q: %v", key, z.Member, err)
			continue
		}
		if m.Version != strconv.FormatFloat(z.Score, 'f', -1, 64) || seen[m.Version] {
			t.Errorf("key %q has version %q at score %v", key, m.Version, z.Score)
		}
		if z.Score > counter || z.Score != math.Trunc(z.Score) {
			t.Errorf("key %q has score %v above the counter %v", key, z.Score, counter)
		}
		seen[m.Version] = true
		newest = m
	}
	if len(members) > MaxRowVersions {
		t.Errorf("key %q has %d versions", key, len(members))
	}
	_, queued := cleanup[key]
	collectable := len(members) > 1 || newest.Tombstone || newest.ExpiresAt > 0
	if collectable && !queued {
		t.Errorf("key %q: %d versions, newest %+v, not in the cleanup queue", key, len(members), newest)
	}
}
