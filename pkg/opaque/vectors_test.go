package opaque

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// goldenKeyspace is testdata/opaque-keyspace.json: what the reference scripts
// left in a Redis while a snapshot was open.
type goldenKeyspace struct {
	Prefix      string
	SnapshotID  string `json:"snapshot_id"`
	FirstCursor string `json:"first_cursor"`
	Keyspace    []struct {
		Key     string
		Type    string
		Members []struct {
			MemberHex string `json:"member_hex"`
			Score     string
		}
		Fields []struct {
			Field    string
			ValueHex string `json:"value_hex"`
		}
		ValueHex string `json:"value_hex"`
	}
	Live []struct {
		Key string
		goldenRow
		Found bool
	}
	Scan []goldenRow `json:"scan_of_snapshot_prefix_actor"`
}

type goldenRow struct {
	Key         string
	ValueHex    string `json:"value_hex"`
	Version     string
	ExpiresAtMS string `json:"expires_at_ms"`
}

func (g goldenRow) row(t *testing.T, key string) Row {
	return Row{Key: key, Value: unhex(t, g.ValueHex), Version: g.Version, ExpiresAt: parseInt(t, g.ExpiresAtMS)}
}

// layGolden lays the keyspace into a Redis, with the snapshot's minute begun
// anew.
func layGolden(t *testing.T, rdb *redis.Client) goldenKeyspace {
	t.Helper()
	var g goldenKeyspace
	readJSON(t, "opaque-keyspace.json", &g)
	ctx := context.Background()
	now, err := rdb.Time(ctx).Result()
	if err != nil {
		t.Fatal(err)
	}
	p := rdb.Pipeline()
	for _, k := range g.Keyspace {
		switch k.Type {
		case "string":
			p.Set(ctx, k.Key, unhex(t, k.ValueHex), 0)
		case "hash":
			for _, f := range k.Fields {
				p.HSet(ctx, k.Key, f.Field, unhex(t, f.ValueHex))
			}
		case "zset":
			for _, m := range k.Members {
				p.ZAdd(ctx, k.Key, redis.Z{Score: float64(parseInt(t, m.Score)), Member: unhex(t, m.MemberHex)})
			}
		}
	}
	keys, err := NewKeys(g.Prefix)
	if err != nil {
		t.Fatal(err)
	}
	p.PExpire(ctx, keys.Scan(g.SnapshotID), SnapshotTTL)
	p.ZAdd(ctx, keys.SnapshotExpiry(), redis.Z{Score: float64(now.Add(SnapshotTTL).UnixMilli()), Member: g.SnapshotID})
	if _, err := p.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestReadsWhatOtherDriversWrote(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		rdb := s.Client(t)
		g := layGolden(t, rdb)
		f := fixture{mustStore(t, rdb, g.Prefix), rdb}
		before := f.dump(t)

		var keys []string
		for _, l := range g.Live {
			keys = append(keys, l.Key)
		}
		_, readings, err := f.Read(ctx, keys...)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range g.Live {
			r := readings[i]
			if r.Key != l.Key || r.Found != l.Found || r.Err != nil {
				t.Errorf("read %+v, want found %v", r, l.Found)
			}
			if l.Found && r.Row != l.row(t, l.Key) {
				t.Errorf("read %+v, want %+v", r.Row, l.row(t, l.Key))
			}
		}

		cursor, err := ParseCursor(g.FirstCursor)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Page(ctx, ScanOptions{Prefix: "actor", Cursor: &cursor}); !errors.Is(err, storeerr.Expired) {
			t.Errorf("another prefix than the snapshot's: %v, want expired", err)
		}
		after := f.dump(t)
		for key, was := range before {
			if after[key] != was {
				t.Errorf("reading changed %s from %s to %s", key, was, after[key])
			}
		}
		whole := Cursor{SnapshotID: g.SnapshotID}
		for _, c := range []struct {
			cursor Cursor
			want   []goldenRow
		}{{whole, g.Scan}, {cursor, g.Scan[1:]}} {
			page, err := f.Page(ctx, ScanOptions{Prefix: "actor/", Cursor: &c.cursor, PageSize: 2})
			if err != nil {
				t.Fatal(err)
			}
			got := page.Rows
			if page.Next != nil {
				next, err := f.Page(ctx, ScanOptions{Prefix: "actor/", Cursor: page.Next, PageSize: 1})
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, next.Rows...)
			}
			if len(got) != len(c.want) {
				t.Fatalf("scanned %+v, want %d rows", got, len(c.want))
			}
			for i, want := range c.want {
				if got[i] != want.row(t, want.Key) {
					t.Errorf("scanned %+v, want %+v", got[i], want.row(t, want.Key))
				}
			}
		}

	})
}
