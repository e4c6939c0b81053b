package legacy_test

// Reading records of every older layout from a server.

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/legacy"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func key(redisKey string) legacy.Key {
	return legacy.Key{RedisKey: redisKey, Name: keyspace.Identify(redisKey)}
}

const (
	v1Row    = "app:{zlink-location-opaque-v1}:record:" + sumOfA
	tagless  = "app:opaque:61"
	lasting  = "app:opaque:62"
	hashBlob = "app:{zlink-relocation-opaque-v1}:blob:" + sumOfA
	payload  = "app:payload:a:b"
	plain    = "app:blob:a:b"
	root     = "app:{relocation}:root:a:b"
)

// lay lays a record of each layout into a Redis.
func lay(t *testing.T, rdb redis.UniversalClient) {
	t.Helper()
	ctx := t.Context()
	_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, v1Row, "key", "a", "bytes", "AP8=", "version", "7", "expiresAtMs", "4102444800000")
		p.PExpire(ctx, v1Row, time.Hour)
		p.HSet(ctx, tagless, "bytes", "\x00\xff", "version", guid)
		p.PExpire(ctx, tagless, time.Hour)
		p.HSet(ctx, lasting, "bytes", "", "version", "8")
		p.HSet(ctx, hashBlob, "reference", "a", "bytes", "\x00=", "expiresAtMs", "4102444800000")
		p.PExpire(ctx, hashBlob, time.Hour)
		p.Set(ctx, payload, "\x00\xff", time.Hour)
		p.Set(ctx, plain, "", time.Hour)
		p.Set(ctx, root, "AP8=", time.Hour)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) { testRead(t, s.Client(t)) })
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: testserver.StartCluster(t).Addrs()})
		t.Cleanup(func() { _ = rdb.Close() })
		testRead(t, rdb)
	})
}

func testRead(t *testing.T, rdb redis.UniversalClient) {
	lay(t, rdb)
	const byTTL = -1 // the expiry that an hour to live makes
	wants := []struct {
		key  string
		want legacy.Record
	}{
		{v1Row, legacy.Record{Key: "a", Value: "\x00\xff", Version: "7", ExpiresAt: 4102444800000}},
		{tagless, legacy.Record{Key: "a", Value: "\x00\xff", Version: guid, ExpiresAt: byTTL}},
		{lasting, legacy.Record{Key: "b", Version: "8"}},
		{hashBlob, legacy.Record{Key: "a", Value: "\x00=", ExpiresAt: 4102444800000}},
		{payload, legacy.Record{Key: "a:b", Value: "\x00\xff", ExpiresAt: byTTL}},
		{plain, legacy.Record{Key: "a:b", ExpiresAt: byTTL}},
		{root, legacy.Record{Key: "a:b", Value: "\x00\xff", ExpiresAt: byTTL}},
	}
	keys := make([]legacy.Key, len(wants))
	for i, w := range wants {
		keys[i] = key(w.key)
	}
	readings, err := legacy.Read(t.Context(), rdb, keys...)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range readings {
		want := wants[i].want
		if want.ExpiresAt == byTTL {
			expiry, err := rdb.PTTL(t.Context(), r.RedisKey).Result()
			if err != nil {
				t.Fatal(err)
			}
			if r.Record.ExpiresAt <= r.Now || r.Record.ExpiresAt > r.Now+time.Hour.Milliseconds() || expiry <= 0 {
				t.Errorf("%s expires at %d, at %d", r.RedisKey, r.Record.ExpiresAt, r.Now)
			}
			want.ExpiresAt = r.Record.ExpiresAt
		}
		if !r.Found || r.Err != nil || r.Record != want || r.RedisKey != wants[i].key {
			t.Errorf("%s: %+v, want %+v", wants[i].key, r, want)
		}
	}
}

func TestReadDamage(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb, ctx := s.Client(t), t.Context()
		rdb.Set(ctx, v1Row, "x", 0)
		rdb.HSet(ctx, tagless, "bytes", "", "version", "7", "more", "")
		rdb.Set(ctx, payload, "x", 0)
		rdb.Set(ctx, root, "x", time.Hour)
		rdb.HSet(ctx, plain, "a", "b")
		rdb.HSet(ctx, root+"2", "a", "b")
		readings, err := legacy.Read(ctx, rdb, key(v1Row), key(tagless), key(payload), key(root), key(root+"2"), key(hashBlob), key(plain))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{
			"no record of layout opaque-v1: it is no hash", "no record of layout tagless: the hash has more fields than the layout",
			"no record of layout payload: it has no time to live, and every blob has one",
			"no record of layout relocation-root: the text is no base64", "no record of layout relocation-root: it is no string",
		} {
			r := readings[i]
			if storeerr.KindOf(r.Err) != storeerr.Integrity || r.Err.Error() != want+` (redis key "`+r.RedisKey+`")` || !r.Found || r.Record != (legacy.Record{}) {
				t.Errorf("%s: %+v, want %s", r.RedisKey, r, want)
			}
		}
		if missing := readings[5]; missing.Found || missing.Err != nil || missing.Now == 0 {
			t.Errorf("a missing key reads %+v", missing)
		}
		if foreign := readings[6]; !foreign.Foreign || foreign.Found || foreign.Err != nil {
			t.Errorf("a key of another type, whose name proves nothing, reads %+v", foreign)
		}

		for _, k := range []string{"app:{zlink-location-v3}:opaque:index", "app:{zlink-relocation-v1}:blob:x", "app:opaque:version", "other"} {
			if _, err := legacy.Read(ctx, rdb, key(k)); !errors.Is(err, storeerr.Invalid) {
				t.Errorf("reading %s: %v", k, err)
			}
		}
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := legacy.Read(gone, rdb, key(payload)); !errors.Is(err, context.Canceled) {
			t.Errorf("reading while cancelled: %v", err)
		}
	})
}
