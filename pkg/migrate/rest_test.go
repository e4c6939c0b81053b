package migrate_test

// What layouts keep beside their records, and what changes while it is looked
// at.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/migrate"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

const v1 = "app:{zlink-location-opaque-v1}:"

// TestRest holds that what stands beside the records goes behind the last one,
// also where a retirement was cut off before that.
func TestRest(t *testing.T) {
	each(t, func(t *testing.T, rdb redis.UniversalClient) {
		ctx := t.Context()
		lay(t, rdb)
		scan := v1 + "scan:7f0c8a5e-6a53-4f6e-9d0c-1b2a3c4d5e6f"
		must(t, rdb.RPush(ctx, scan, "v1/expires", "v1/lasts").Err())
		must(t, rdb.Set(ctx, v1+"scan:strange", "no list", 0).Err())
		must(t, rdb.Set(ctx, "app:opaque:7a", "no hash", 0).Err()) // the name proves nothing
		o := migrate.Options{From: "app", To: "app", Layouts: []keyspace.Layout{keyspace.OpaqueV1, keyspace.Tagless}}
		beside := func(do step, want ...int64) {
			t.Helper()
			counts, err := do(ctx, rdb, o)
			must(t, err)
			var got []int64
			for _, c := range counts {
				got = append(got, c.Beside)
			}
			if !slices.Equal(got, want) {
				t.Errorf("beside the records are %v, want %v; counts\n%s", got, want, table(counts))
			}
		}
		beside(migrate.Plan, 4, 1)
		beside(migrate.Apply, 4, 1)
		must(t, rdb.HSet(ctx, v1+"record:"+sum("v1/lasts"), "version", "4").Err())
		must(t, rdb.HSet(ctx, v1+"record:"+sum("v1/lasts"), "bytes", "aGk=").Err())
		beside(migrate.Retire, 4, 0)
		if entries := rdb.HKeys(ctx, v1+"index").Val(); !slices.Equal(entries, []string{"v1/lasts"}) {
			t.Errorf("the index has %q", entries)
		}

		// The record goes as one that has expired does: the index keeps it.
		must(t, rdb.Del(ctx, v1+"record:"+sum("v1/lasts")).Err())
		must(t, rdb.Set(ctx, "app:opaque:version", "8", 0).Err())
		beside(migrate.Plan, 4, 1)
		beside(migrate.Retire, 1, 0)
		left := keys(t, rdb)
		left = slices.DeleteFunc(left, func(key string) bool {
			return strings.Contains(key, "{zlink-location-v3}") || strings.Contains(key, "blob:")
		})
		want := []string{"app:opaque:7a", "app:payload:b/2", "app:{relocation}:root:b/4", v1 + "scan:strange"}
		if !slices.Equal(left, want) {
			t.Errorf("left are %q, want %q", left, want)
		}
	})
}

// single is each without a cluster.
func single(t *testing.T, run func(t *testing.T, rdb redis.UniversalClient)) {
	t.Helper()
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) { run(t, s.Client(t)) })
}

// during runs something before each script that a step sends on a single server.
type during struct {
	script string
	run    func()
}

func (d *during) DialHook(next redis.DialHook) redis.DialHook { return next }

func (d *during) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		d.before(cmd)
		return next(ctx, cmd)
	}
}

func (d *during) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			d.before(cmd)
		}
		return next(ctx, cmds)
	}
}

func (d *during) before(cmd redis.Cmder) {
	if d.run != nil && len(cmd.Args()) > 1 && strings.HasPrefix(fmt.Sprint(cmd.Args()[0]), "eval") && cmd.Args()[1] == sha1Of(d.script) {
		run := d.run
		d.run = nil
		run()
	}
}

// TestChangedWhileRetiring holds that an old key that somebody writes behind the
// comparison stays, with its new content, and one whose new row was written goes
// and leaves that alone.
func TestChangedWhileRetiring(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		change func(ctx context.Context, rdb redis.UniversalClient, rows *opaque.Store) error
		kept   string // the old key that stays
	}{
		"opaque-v1 of the same length": {"legacy_retire", func(ctx context.Context, rdb redis.UniversalClient, _ *opaque.Store) error {
			return rdb.HSet(ctx, v1+"record:"+sum("v1/lasts"), "bytes", "AP9=").Err()
		}, v1 + "record:" + sum("v1/lasts")},
		"opaque-v1 expiry": {"legacy_retire", func(ctx context.Context, rdb redis.UniversalClient, _ *opaque.Store) error {
			return rdb.HSet(ctx, v1+"record:"+sum("v1/expires"), "expiresAtMs", farOff+5000).Err()
		}, v1 + "record:" + sum("v1/expires")},
		"tagless of the same version": {"legacy_retire", func(ctx context.Context, rdb redis.UniversalClient, _ *opaque.Store) error {
			return rdb.HSet(ctx, "app:opaque:75", "bytes", "w").Err()
		}, "app:opaque:75"},
		"tagless expiry": {"legacy_retire", func(ctx context.Context, rdb redis.UniversalClient, _ *opaque.Store) error {
			return rdb.Persist(ctx, "app:opaque:75").Err()
		}, "app:opaque:75"},
		"the new row": {"legacy_retire", func(ctx context.Context, _ redis.UniversalClient, rows *opaque.Store) error {
			_, err := rows.Write(ctx, opaque.Batch{Mutations: []opaque.Mutation{opaque.Put("u", "newer", opaque.Never())}})
			return err
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			single(t, func(t *testing.T, rdb redis.UniversalClient) {
				ctx := t.Context()
				lay(t, rdb)
				rows, err := opaque.New(rdb, "app")
				must(t, err)
				o := migrate.Options{From: "app", To: "app", Layouts: []keyspace.Layout{keyspace.OpaqueV1, keyspace.Tagless}}
				_, err = migrate.Apply(ctx, rdb, o)
				must(t, err)
				// Retire plans first; the script comes in its second walk alone.
				rdb.AddHook(&during{c.script, func() { must(t, c.change(ctx, rdb, rows)) }})
				counts, err := migrate.Retire(ctx, rdb, o)
				must(t, err)
				var kept int64
				for _, c := range counts {
					kept += c.Kept
				}
				left := keys(t, rdb)
				// One that was compared behind the change collides, and stays too.
				if stays := c.kept != ""; stays && kept == 0 || stays && !slices.Contains(left, c.kept) {
					t.Errorf("kept %d of\n%s, left are %q", kept, table(counts), left)
				}
				_, there, err := rows.Read(ctx, "u")
				must(t, err)
				if want := map[bool]string{true: "newer", false: "v"}[c.kept == ""]; there[0].Row.Value != want {
					t.Errorf("the new row is %+v, want %q", there[0], want)
				}
			})
		})
	}
}

// TestBlobChangedWhileRetiring is the same for blobs, which have a length, a time
// to live, and no version.
func TestBlobChangedWhileRetiring(t *testing.T) {
	for name, change := range map[string]func(ctx context.Context, rdb redis.UniversalClient) error{
		"bytes": func(ctx context.Context, rdb redis.UniversalClient) error {
			return rdb.SetRange(ctx, "app:payload:b/2", 0, "T").Err()
		},
		"expiry": func(ctx context.Context, rdb redis.UniversalClient) error {
			return rdb.Expire(ctx, "app:payload:b/2", time.Hour).Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			single(t, func(t *testing.T, rdb redis.UniversalClient) {
				ctx := t.Context()
				lay(t, rdb)
				o := migrate.Options{From: "app", To: "app", Layouts: []keyspace.Layout{keyspace.Payload}}
				expect(t, rdb, migrate.Apply, o, "payload 1: written 1\n")
				rdb.AddHook(&during{"legacy_retire", func() { must(t, change(ctx, rdb)) }})
				expect(t, rdb, migrate.Retire, o, "payload 1: done 1 kept 1\n")
			})
		})
	}
}

// TestRetireBesideReaders holds that untagged rows stay while a snapshot of
// their store is open, and that the counter goes with the last of them.
func TestRetireBesideReaders(t *testing.T) {
	single(t, func(t *testing.T, rdb redis.UniversalClient) {
		ctx := t.Context()
		k := layUntagged(t, rdb, false)
		o := migrate.Options{From: "app", To: "new"}
		expect(t, rdb, migrate.Apply, o, "v3-untagged 4: expired 1 tombstones 1 written 2 raw 3\n")
		store, err := opaque.New(rdb, "app")
		must(t, err)
		snapshot, err := store.OpenSnapshot(ctx, "")
		must(t, err)
		before := dump(t, rdb)
		expect(t, rdb, migrate.Retire, o, "v3-untagged 4: done 2 expired 1 tombstones 1 raw 3 kept 4\n")
		if after := dump(t, rdb); !slices.Equal(before, after) {
			t.Errorf("before\n%q\nafter\n%q", before, after)
		}
		_, err = store.DropSnapshot(ctx, snapshot.ID)
		must(t, err)
		// The last row is of the current layout, so the counter stays.
		_, err = store.Write(ctx, opaque.Batch{Mutations: []opaque.Mutation{opaque.Put("current", "", opaque.Never())}})
		must(t, err)
		expect(t, rdb, migrate.Retire, o, "v3-untagged 4: done 2 expired 1 tombstones 1 raw 3 retired 4\n")
		if got := rdb.Get(ctx, k.Sequence()).Val(); got != "21" {
			t.Errorf("the counter is %q", got)
		}
		if got := contents(t, rdb, "app"); !slices.Equal(got, []string{`"current" "" 0`}) {
			t.Errorf("left are %q", got)
		}
	})
}

// TestUntaggedLargeRow holds that a row of more members than a script may copy is
// rewritten, and once more where members were put aside before.
func TestUntaggedLargeRow(t *testing.T) {
	single(t, func(t *testing.T, rdb redis.UniversalClient) {
		ctx := t.Context()
		k := layUntagged(t, rdb, false)
		lay := func(rows int, version string) {
			for i := range rows {
				member := fmt.Sprintf("\x95\xa5large\xa4%04d\xa1%s\xff\x00", i, version)
				must(t, rdb.ZAdd(ctx, k.Row("large"), redis.Z{Score: float64(1000 + i), Member: member}).Err())
			}
		}
		lay(3000, "1")
		must(t, rdb.Set(ctx, k.Sequence(), "5000", 0).Err())
		var problems []string
		o := migrate.Options{
			From: "app", To: "app", InPlace: true, Values: migrate.Raw, Problem: func(err error) { problems = append(problems, err.Error()) },
		}
		expect(t, rdb, migrate.Apply, o, "v3-untagged 5: written 5 ambiguous 1 raw 3\n")
		if rows, aside := rdb.ZCard(ctx, k.Row("large")).Val(), rdb.ZCard(ctx, k.Quarantine("large")).Val(); rows != 1 || aside != 3000 {
			t.Errorf("the row has %d members, its quarantine %d", rows, aside)
		}
		// An older application writes once more.
		must(t, rdb.Del(ctx, k.Row("large")).Err())
		lay(1100, "2")
		expect(t, rdb, migrate.Apply, o, "v3-untagged 6: done 5 damaged 1 ambiguous 1\n")
		if len(problems) != 1 || !strings.Contains(problems[0], "retire these first") {
			t.Errorf("problems %q", problems)
		}
		must(t, rdb.ZRemRangeByRank(ctx, k.Row("large"), 0, 99).Err())
		expect(t, rdb, migrate.Apply, o, "v3-untagged 6: done 5 written 1 ambiguous 1\n")
		if rows, aside := rdb.ZCard(ctx, k.Row("large")).Val(), rdb.ZCard(ctx, k.Quarantine("large")).Val(); rows != 1 || aside != 4000 {
			t.Errorf("the row has %d members, its quarantine %d", rows, aside)
		}
		if got := contents(t, rdb, "app"); !slices.Contains(got, `"large" "1099" 0`) {
			t.Errorf("rows %q", got)
		}
	})
}

// TestRefusedByServer holds what the statuses stand on.
func TestRefusedByServer(t *testing.T) {
	t.Parallel()
	for _, do := range []step{migrate.Plan, migrate.Apply, migrate.Retire} {
		rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
		_, err := do(t.Context(), rdb, migrate.Options{From: "app", To: "app"})
		if storeerr.KindOf(err) != storeerr.Unavailable {
			t.Errorf("%v", err)
		}
		must(t, rdb.Close())
	}
}
