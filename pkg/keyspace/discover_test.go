package keyspace_test

// Walks over servers that hold a little of everything.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// lay lays stores of every layout into a Redis, and what only looks like them.
func lay(t *testing.T, rdb redis.UniversalClient) {
	t.Helper()
	ctx := t.Context()
	rows, err := opaque.New(rdb, "app")
	must(t, err)
	for i := range 3 {
		_, err := rows.Write(ctx, opaque.Batch{Mutations: []opaque.Mutation{opaque.Put(fmt.Sprint(i), "v", opaque.Never())}})
		must(t, err)
	}
	_, err = rows.OpenSnapshot(ctx, "")
	must(t, err)
	_, err = rows.Write(ctx, opaque.Batch{Mutations: []opaque.Mutation{opaque.Delete("1")}})
	must(t, err)
	must(t, rdb.ZAdd(ctx, rows.Keys().Cleanup(), redis.Z{Score: 1, Member: "1"}).Err())
	blobs, err := blob.New(rdb, "app")
	must(t, err)
	for _, ref := range []string{"a", "b:{c}"} {
		_, err := blobs.Put(ctx, ref, []byte("x"), 3_600_000)
		must(t, err)
	}
	chunks, err := warm.New(rdb, "")
	must(t, err)
	for i := range uint16(2) {
		_, err := chunks.Create(ctx, warm.Segment{Namespace: "eu", Name: "s"}, i, nil)
		must(t, err)
	}
	old, err := opaque.NewKeys("old")
	must(t, err)
	must(t, rdb.ZAdd(ctx, old.Row("a"), redis.Z{Score: 1, Member: "\x95\xa1a\xa1v\xa11\xff\x00"}).Err())
	must(t, rdb.Set(ctx, old.Sequence(), "1", 0).Err())

	must(t, rdb.HSet(ctx, "app:{zlink-location-opaque-v1}:record:"+sum, "key", "x").Err())
	must(t, rdb.HSet(ctx, "app:{zlink-relocation-opaque-v1}:blob:"+sum, "reference", "x").Err())
	must(t, rdb.Set(ctx, "app:{relocation}:root:x", "", time.Hour).Err())
	must(t, rdb.HSet(ctx, "app:payload:x:opaque:61", "bytes", "", "version", "1").Err())
	must(t, rdb.Set(ctx, "app:payload:x:opaque:62", "", time.Hour).Err())
	must(t, rdb.Set(ctx, "app:blob:x", "", time.Hour).Err())

	must(t, rdb.Set(ctx, "app:blob:lasting", "", 0).Err())
	must(t, rdb.HSet(ctx, "app:blob:hash", "a", "b").Err())
	must(t, rdb.HSet(ctx, "app:opaque:61", "bytes", "").Err())
	must(t, rdb.Set(ctx, "other", "", 0).Err())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// laid is what Discover finds of it: store, layout, prefix, segment; keys,
// records, whether certain.
const laid = `opaque current app : 10 3 true
opaque opaque-v1 app : 1 1 true
opaque tagless app:payload:x : 1 1 false
opaque v3-untagged old : 2 1 true
blob current app : 2 2 true
blob payload app : 1 1 false
blob plain-blob app : 1 1 false
blob relocation-opaque-v1 app : 1 1 true
blob relocation-root app : 1 1 true
warm current  eu:s 3 2 true
foreign   : 4 0 false
`

func list(d *keyspace.Discovery) string {
	var text strings.Builder
	for _, s := range d.Stores {
		namespace := ""
		if s.Namespace != nil {
			namespace = *s.Namespace
		}
		store := s.Store
		if store == keyspace.Foreign {
			store = "foreign"
		}
		fmt.Fprintf(&text, "%s %s %s %s:%s %d %d %v\n", store, s.RowLayout(), s.Prefix, namespace, s.Segment, s.Keys, s.Records, s.Certain)
	}
	return text.String()
}

func TestDiscover(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) { testDiscover(t, s.Client(t)) })
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		rdb := redis.NewClusterClient(&redis.ClusterOptions{Addrs: testserver.StartCluster(t).Addrs()})
		t.Cleanup(func() { _ = rdb.Close() })
		testDiscover(t, rdb)
	})
}

func testDiscover(t *testing.T, rdb redis.UniversalClient) {
	lay(t, rdb)
	var looked int64
	d, err := keyspace.Discover(t.Context(), rdb, keyspace.DiscoverOptions{Sample: 100, Progress: func(n int64) { looked = n }})
	must(t, err)
	if got := list(d); got != laid {
		t.Errorf("found\n%s, want\n%s", got, laid)
	}
	if d.Looked != 27 || looked != 27 || d.Stopped || d.Crowded || d.Unmeasured != nil || d.Damaged != nil {
		t.Errorf("looked at %d keys, and said %d: %+v", d.Looked, looked, d)
	}
	for _, s := range d.Stores {
		if s.Measured != s.Keys || s.Bytes < 10*s.Keys {
			t.Errorf("%s %s has %d bytes, measured on %d of %d keys", s.Store, s.Layout, s.Bytes, s.Measured, s.Keys)
		}
	}
	app, old := d.Stores[0], d.Stores[3]
	if app.Snapshots != 1 || app.Due != 1 || app.OldestSnapshot == 0 || app.OldestSnapshot > app.Now || app.Sniffed != 3 {
		t.Errorf("the store is %+v", app)
	}
	if old.Snapshots != 0 || old.Due != 0 || old.Now == 0 {
		t.Errorf("the older store is %+v", old)
	}
}

func TestDiscoverMatch(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb := s.Client(t)
		lay(t, rdb)
		d, err := keyspace.Discover(t.Context(), rdb, keyspace.DiscoverOptions{Match: "old:*"})
		must(t, err)
		if got := list(d); got != "opaque v3-untagged old : 2 1 true\n" {
			t.Errorf("found %s", got)
		}
		if s := d.Stores[0]; s.Bytes != -1 || s.Measured != 0 {
			t.Errorf("measured without being asked: %+v", s)
		}
	})
}

func TestDiscoverMaxKeys(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb := s.Client(t)
		lay(t, rdb)
		for limit, stops := range map[int64]bool{1: true, 26: true, 27: false, 28: false} {
			d, err := keyspace.Discover(t.Context(), rdb, keyspace.DiscoverOptions{MaxKeys: limit})
			must(t, err)
			var keys int64
			for _, s := range d.Stores {
				keys += s.Keys
			}
			if d.Looked != min(limit, 27) || keys != d.Looked || d.Stopped != stops {
				t.Errorf("at most %d keys: looked at %d, counted %d, stopped: %v", limit, d.Looked, keys, d.Stopped)
			}
		}
	})
}

func TestDiscoverSample(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb, ctx := s.Client(t), t.Context()
		const blobs = 2500
		_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := range blobs {
				p.Set(ctx, fmt.Sprintf("app:{zlink-relocation-v1}:blob:%04d", i), strings.Repeat("x", 1000), time.Hour)
			}
			return nil
		})
		must(t, err)
		all, err := keyspace.Discover(ctx, rdb, keyspace.DiscoverOptions{Sample: 1 << 30})
		must(t, err)
		some, err := keyspace.Discover(ctx, rdb, keyspace.DiscoverOptions{Sample: 10})
		must(t, err)
		a, b := all.Stores[0], some.Stores[0]
		if a.Keys != blobs || a.Measured != blobs || b.Keys != blobs || b.Measured != 10 {
			t.Errorf("measured %+v and %+v", a, b)
		}
		if a.Bytes < 1000*blobs || b.Bytes < a.Bytes*9/10 || b.Bytes > a.Bytes*11/10 {
			t.Errorf("%d bytes by a sample, %d by all", b.Bytes, a.Bytes)
		}
	})
}

func TestDiscoverCrowd(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb, ctx := s.Client(t), t.Context()
		_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := range 1200 {
				p.Set(ctx, fmt.Sprintf("user%d:blob:x", i), "", time.Hour)
			}
			return nil
		})
		must(t, err)
		d, err := keyspace.Discover(ctx, rdb, keyspace.DiscoverOptions{})
		must(t, err)
		last := d.Stores[len(d.Stores)-1]
		if !d.Crowded || len(d.Stores) != 1001 || last.Store != keyspace.Foreign || last.Keys != 200 {
			t.Errorf("found %d stores, crowded: %v, the last is %+v", len(d.Stores), d.Crowded, last)
		}
	})
}

// TestDiscoverDamaged holds that a store whose bookkeeping is damaged is named,
// and does not end the walk.
func TestDiscoverDamaged(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb := s.Client(t)
		lay(t, rdb)
		must(t, rdb.Set(t.Context(), "old:{zlink-location-v3}:opaque:cleanup", "text", 0).Err())
		d, err := keyspace.Discover(t.Context(), rdb, keyspace.DiscoverOptions{})
		must(t, err)
		if len(d.Damaged) != 1 || !errors.Is(d.Damaged[0], storeerr.Integrity) || !strings.Contains(d.Damaged[0].Error(), "old:{zlink") {
			t.Errorf("damaged: %v", d.Damaged)
		}
		if len(d.Stores) != 11 || d.Stores[3].Now != 0 {
			t.Errorf("found\n%s", list(d))
		}
	})
}

// TestDiscoverFewRights holds that a user without MEMORY is told why nothing
// is measured.
func TestDiscoverFewRights(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t)
	rdb := s.Client(t)
	lay(t, rdb)
	must(t, rdb.Do(t.Context(), "ACL", "SETUSER", "few", "on", "nopass", "~*", "+@all", "-memory", "-keys").Err())
	options := *rdb.Options()
	options.Username, options.Password = "few", "any"
	few := redis.NewClient(&options)
	t.Cleanup(func() { _ = few.Close() })
	d, err := keyspace.Discover(t.Context(), few, keyspace.DiscoverOptions{Sample: 10})
	must(t, err)
	if got := list(d); got != laid {
		t.Errorf("found\n%s, want\n%s", got, laid)
	}
	if d.Unmeasured == nil || !strings.Contains(d.Unmeasured.Error(), "NOPERM") {
		t.Errorf("unmeasured: %v", d.Unmeasured)
	}
	for _, s := range d.Stores {
		if s.Bytes != -1 {
			t.Errorf("%s %s has %d bytes", s.Store, s.Layout, s.Bytes)
		}
	}
}

func TestDiscoverUnavailable(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := keyspace.Discover(ctx, testserver.Embedded(t).Client(t), keyspace.DiscoverOptions{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("while cancelled: %v", err)
	}
}
