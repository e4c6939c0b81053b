// Tests that the table of groups is what the stores really run, and that a
// user with these rights and no others can run it.
package doctor_test

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/doctor"
	"github.com/keyspacectl/keyspacectl/pkg/inspect"
	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/migrate"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/verify"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

const hour = 3_600_000

// stores are the stores of a client, all of one prefix.
type stores struct {
	client *redis.Client
	opaque *opaque.Store
	blob   *blob.Store
	warm   *warm.Store
}

func newStores(t *testing.T, c *redis.Client) stores {
	t.Helper()
	o, opaqueErr := opaque.New(c, "app")
	b, blobErr := blob.New(c, "app")
	w, warmErr := warm.New(c, "app")
	if err := errors.Join(opaqueErr, blobErr, warmErr); err != nil {
		t.Fatal(err)
	}
	return stores{c, o, b, w}
}

var segment = warm.Segment{Name: "segment"}

// uses runs, for each group, all that its verbs do; what runs only after a
// failure is run for itself.
var uses = map[string]func(ctx context.Context, s, admin stores) error{
	"opaque-reads": func(ctx context.Context, s, _ stores) error {
		_, _, readErr := s.opaque.Read(ctx, "a", "b")
		_, _, historyErr := s.opaque.History(ctx, "a")
		return errors.Join(readErr, historyErr, drain(s.opaque.Scan(ctx, opaque.ScanOptions{Live: true})))
	},
	"opaque-stats": func(ctx context.Context, s, admin stores) error {
		// So that there is a record of one.
		if _, err := admin.opaque.OpenSnapshot(ctx, ""); err != nil {
			return err
		}
		_, bookkeepingErr := s.opaque.Bookkeeping(ctx)
		_, _, snapshotsErr := s.opaque.Snapshots(ctx)
		_, sizesErr := s.opaque.Sizes(ctx, "a")
		return errors.Join(bookkeepingErr, snapshotsErr, sizesErr, drain(s.opaque.Survey(ctx, opaque.SurveyOptions{})))
	},
	"opaque-scans": func(ctx context.Context, s, _ stores) error {
		if err := drain(s.opaque.Scan(ctx, opaque.ScanOptions{})); err != nil {
			return err
		}
		page, err := s.opaque.Page(ctx, opaque.ScanOptions{PageSize: 1})
		if err != nil {
			return err
		}
		if err := s.opaque.RenewSnapshot(ctx, page.Next.SnapshotID); err != nil {
			return err
		}
		return drain(s.opaque.Scan(ctx, opaque.ScanOptions{Cursor: page.Next, CursorPrefix: true}))
	},
	"opaque-writes": func(ctx context.Context, s, _ stores) error {
		b := opaque.Batch{Mutations: []opaque.Mutation{opaque.Put("a", "2", opaque.Never()), opaque.Put("c", "1", opaque.Never()), opaque.Delete("b")}}
		_, previewErr := s.opaque.Preview(ctx, b)
		_, writeErr := s.opaque.Write(ctx, b)
		_, _, explainErr := s.opaque.Explain(ctx, []opaque.Condition{opaque.Missing("a")})
		_, collectErr := s.opaque.Collect(ctx, opaque.PassSize)
		_, countErr := s.opaque.DeleteUnder(ctx, "", opaque.DeleteUnderOptions{DryRun: true})
		_, deleteErr := s.opaque.DeleteUnder(ctx, "", opaque.DeleteUnderOptions{})
		return errors.Join(previewErr, writeErr, explainErr, collectErr, countErr, deleteErr)
	},
	"snapshots": func(ctx context.Context, s, admin stores) error {
		snapshot, err := admin.opaque.OpenSnapshot(ctx, "")
		if err != nil {
			return err
		}
		// What is due was due before now.
		if err := admin.client.ZAdd(ctx, admin.opaque.Keys().Cleanup(), redis.Z{Score: 1, Member: "a"}).Err(); err != nil {
			return err
		}
		_, _, listErr := s.opaque.Snapshots(ctx)
		_, dryErr := s.opaque.CollectAll(ctx, opaque.CollectOptions{DryRun: true})
		_, collectErr := s.opaque.CollectAll(ctx, opaque.CollectOptions{})
		_, dropErr := s.opaque.DropSnapshot(ctx, snapshot.ID)
		return errors.Join(listErr, dryErr, collectErr, dropErr)
	},
	"opaque-verify": func(ctx context.Context, s, admin stores) error {
		return errors.Join(damage(ctx, admin), drain(verify.Opaque(ctx, s.client, "app", verify.Options{})))
	},
	"opaque-repair": func(ctx context.Context, s, admin stores) error {
		o := verify.RunOptions{Prefix: "app", Stores: []verify.Store{verify.StoreOpaque}, Repair: true, Destroy: []verify.Code{verify.OpaqueType}}
		return errors.Join(damage(ctx, admin), drain(verify.Run(ctx, s.client, o)))
	},
	"blob-reads": func(ctx context.Context, s, admin stores) error {
		_, largeErr := admin.blob.Put(ctx, "large", largeFrame(), hour)
		_, readErr := s.blob.Read(ctx, "r")
		_, statErr := s.blob.Stat(ctx, "large")
		afterRefusal := luascripts.Must("blob_read").Run(ctx, s.client, []string{s.blob.Key("r")}).Err()
		return errors.Join(largeErr, readErr, statErr, afterRefusal, drain(s.blob.List(ctx, "")))
	},
	"blob-writes": func(ctx context.Context, s, _ stores) error {
		_, previewErr := s.blob.PreviewPut(ctx, "r", []byte("bytes"), hour)
		_, renewalErr := s.blob.PreviewRenew(ctx, "r", hour)
		_, deletionErr := s.blob.PreviewDelete(ctx, "r")
		_, putErr := s.blob.Put(ctx, "new", []byte("bytes"), hour)
		_, againErr := s.blob.Put(ctx, "new", []byte("bytes"), hour)
		_, renewErr := s.blob.Renew(ctx, "new", hour)
		_, deleteErr := s.blob.Delete(ctx, "new")
		return errors.Join(previewErr, renewalErr, deletionErr, putErr, againErr, renewErr, deleteErr)
	},
	"blob-verify": func(ctx context.Context, s, admin stores) error {
		_, largeErr := admin.blob.Put(ctx, "large", largeFrame(), hour)
		typeErr := admin.client.HSet(ctx, admin.blob.Key("hash"), "a", "b").Err()
		return errors.Join(largeErr, typeErr, drain(verify.Blobs(ctx, s.client, "app", verify.Options{})))
	},
	"warm-reads": func(ctx context.Context, s, _ stores) error {
		_, err := s.warm.Get(ctx, segment, 1)
		return errors.Join(err, drain(s.warm.List(ctx, segment, warm.ListOptions{})),
			drain(s.warm.List(ctx, segment, warm.ListOptions{Payload: true})), drain(s.warm.Segments(ctx, nil)))
	},
	"warm-writes": func(ctx context.Context, s, _ stores) error {
		_, previewErr := s.warm.PreviewCreate(ctx, segment, 2, nil)
		created, createErr := s.warm.Create(ctx, segment, 2, []byte("one"))
		updated, updateErr := s.warm.Update(ctx, segment, 2, []byte("two"), created.Token)
		afterLoss := s.client.HGet(ctx, s.warm.ChunkKey(segment, 2), "t").Err()
		_, deletionErr := s.warm.PreviewDelete(ctx, segment, 2, updated.Token)
		_, deleteErr := s.warm.Delete(ctx, segment, 2, updated.Token)
		return errors.Join(previewErr, createErr, updateErr, afterLoss, deletionErr, deleteErr)
	},
	"warm-verify": func(ctx context.Context, s, admin stores) error {
		return errors.Join(damageChunks(ctx, admin), drain(verify.Warm(ctx, s.client, "app", verify.Options{})))
	},
	"warm-repair": func(ctx context.Context, s, admin stores) error {
		o := verify.RunOptions{Prefix: "app", Stores: []verify.Store{verify.StoreWarm}, Repair: true, Destroy: []verify.Code{verify.WarmIndexType, verify.WarmChunkType}}
		return errors.Join(damageChunks(ctx, admin), drain(verify.Run(ctx, s.client, o)))
	},
	"inspect": func(ctx context.Context, s, admin stores) error {
		keys := admin.opaque.Keys()
		frame := "ZLTC\x01\x00\x00\x00\x00\x00\x08" + strings.Repeat("\x00", 12)
		_, err := admin.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			p.HSet(ctx, keys.Scan("id"), "boundary", "1")
			p.Set(ctx, admin.blob.Key("framed"), frame, time.Hour)
			p.HSet(ctx, "app:opaque:61", "bytes", "v", "version", "1")
			p.Set(ctx, "app:payload:r", "v", time.Hour)
			p.RPush(ctx, "app:list", "item")
			p.SAdd(ctx, "app:set", "item")
			p.XAdd(ctx, &redis.XAddArgs{Stream: "app:stream", Values: []string{"f", "v"}})
			return nil
		})
		for _, key := range []string{
			keys.Row("a"), keys.Index(), keys.Map(), keys.Sequence(), keys.Scan("id"), admin.blob.Key("framed"), "app:opaque:61",
			"app:payload:r", admin.warm.ChunkKey(segment, 1), "app:list", "app:set", "app:stream",
		} {
			_, keyErr := inspect.Key(ctx, s.client, key, inspect.Options{})
			err = errors.Join(err, keyErr)
		}
		_, logicalErr := inspect.Logical(ctx, s.client, "app", "a", inspect.Options{})
		return errors.Join(err, logicalErr)
	},
	"migrate": func(ctx context.Context, s, admin stores) error {
		if err := layOlder(ctx, admin); err != nil {
			return err
		}
		inPlace := migrate.Options{From: "app", To: "app", InPlace: true, SkipCollisions: true}
		moved := migrate.Options{From: "old", To: "app", SkipCollisions: true}
		for _, o := range []migrate.Options{inPlace, moved} {
			_, applyErr := migrate.Apply(ctx, s.client, o)
			_, retireErr := migrate.Retire(ctx, s.client, o)
			if err := errors.Join(applyErr, retireErr); err != nil {
				return err
			}
		}
		// Where somebody else puts the blob meanwhile.
		_, err := s.blob.PutUntil(ctx, "r", []byte("bytes"), 4102444800000)
		return err
	},
	"prefixes": func(ctx context.Context, s, admin stores) error {
		if err := layOlder(ctx, admin); err != nil {
			return err
		}
		if _, err := admin.opaque.OpenSnapshot(ctx, ""); err != nil {
			return err
		}
		_, err := keyspace.Discover(ctx, s.client, keyspace.DiscoverOptions{Sample: 10})
		return err
	},
	"scripts": func(ctx context.Context, s, _ stores) error { return luascripts.Load(ctx, s.client) },
}

// layOlder lays records of older layouts.
func layOlder(ctx context.Context, admin stores) error {
	_, err := admin.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, prefix := range []string{"app", "old"} {
			keys, err := opaque.NewKeys(prefix)
			if err != nil {
				return err
			}
			p.ZAdd(ctx, keys.Row("x"), redis.Z{Score: 1, Member: "\x95\xa1x\xa1!\xa11\xff\x00"})
			p.HSet(ctx, prefix+":opaque:6e", "bytes", "v", "version", "1")
			p.HSet(ctx, prefix+":{zlink-location-opaque-v1}:index", "lost", "", "expired", `["","1",1]`)
			p.Set(ctx, prefix+":opaque:version", 1, 0)
			p.Set(ctx, prefix+":payload:new", "v", time.Hour)
		}
		return nil
	})
	return err
}

// damage does to a store what every way of looking at it, and every way of
// mending it, is for.
func damage(ctx context.Context, admin stores) error {
	keys := admin.opaque.Keys()
	// A row with more versions than one reply brings, and one that does not decode.
	for i := range 40 {
		m := opaque.Member{Key: "a", Version: strconv.Itoa(i)}
		if err := admin.client.ZAdd(ctx, keys.Row("a"), redis.Z{Score: float64(i) / 100, Member: string(m.Append(nil))}).Err(); err != nil {
			return err
		}
	}
	_, err := admin.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.ZAdd(ctx, keys.Row("b"), redis.Z{Score: 0.5, Member: "broken"})
		p.ZAdd(ctx, keys.Cleanup(), redis.Z{Score: 1, Member: "b"}, redis.Z{Score: 1, Member: "orphan"})
		p.ZAdd(ctx, "app:{zlink-location-v3}:opaque-quarantine:"+strings.Repeat("0", 64), redis.Z{Member: "broken"})
		p.PExpire(ctx, keys.Map(), time.Hour)
		p.Del(ctx, keys.Sequence())
		p.Set(ctx, keys.SnapshotExpiry(), "no zset", 0)
		p.HSet(ctx, keys.Scan("id"), "boundary", "1")
		return nil
	})
	return err
}

// damageChunks is damage to the warm store.
func damageChunks(ctx context.Context, admin stores) error {
	retyped := warm.Segment{Name: "retyped"}
	_, err := admin.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.ZAdd(ctx, admin.warm.IndexKey(segment), redis.Z{Member: "orphan"})
		p.PExpire(ctx, admin.warm.IndexKey(segment), time.Hour)
		p.Set(ctx, admin.warm.IndexKey(retyped), "no zset", 0)
		p.Set(ctx, admin.warm.ChunkKey(retyped, 1), "no hash", 0)
		p.Set(ctx, "{app|a..b|users}idx", "", 0)
		return nil
	})
	return err
}

// largeFrame is a frame that is read in pieces, with a wrong CRC.
func largeFrame() []byte {
	frame := make([]byte, 2<<20)
	copy(frame, "ZLTC\x01")
	binary.BigEndian.PutUint32(frame[7:], uint32(len(frame)-15))
	return frame
}

// drain reads to the end, or to the first error.
func drain[T any](all iter.Seq2[T, error]) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestGroups(t *testing.T) {
	t.Parallel()
	for _, g := range doctor.Groups() {
		t.Run(g.Name, func(t *testing.T) {
			t.Parallel()
			s := testserver.Real(t)
			admin := newStores(t, s.Client(t))
			seed(t, admin)
			rules := needs(t, admin.client, g)
			if g.Store == doctor.All {
				rules += " ~*" // it names no keys
			}
			c, seen := user(t, s, "app", "-@all "+rules), &log{}
			c.AddHook(seen)
			if err := uses[g.Name](t.Context(), newStores(t, c), admin); err != nil {
				t.Errorf("with %s: %v", rules, err)
			}
			scripts, plain := seen.sorted()
			if !slices.Equal(plain, g.Plain) || !slices.Equal(scripts, g.Scripts) {
				t.Errorf("it ran the scripts %q and the commands %q, the group names %q and %q", scripts, plain, g.Scripts, g.Plain)
			}
		})
	}
}

// needs is what doctor says that a user of a group needs.
func needs(t *testing.T, c *redis.Client, g doctor.Group) string {
	t.Helper()
	results := run(t, c, doctor.Options{Prefix: "app", Stores: []doctor.Store{g.Store}})
	at := slices.IndexFunc(results, func(r doctor.Result) bool { return r.Check == "acl-"+g.Name })
	if at < 0 || results[at].Status != doctor.OK || results[at].Needs == "" {
		t.Fatalf("found %+v", results)
	}
	return results[at].Needs
}

// No script is without a group.
func TestGroupsHoldAllScripts(t *testing.T) {
	t.Parallel()
	for _, script := range luascripts.All() {
		if !slices.ContainsFunc(doctor.Groups(), func(g doctor.Group) bool { return slices.Contains(g.Scripts, script.Name) }) {
			t.Errorf("%s is in no group", script.Name)
		}
	}
}

// seed writes two rows, a blob and a chunk.
func seed(t *testing.T, s stores) {
	t.Helper()
	_, rowErr := s.opaque.Write(t.Context(), opaque.Batch{Mutations: []opaque.Mutation{
		opaque.Put("a", "1", opaque.Never()), opaque.Put("b", "1", opaque.Never()),
	}})
	_, blobErr := s.blob.Put(t.Context(), "r", []byte("bytes"), hour)
	_, chunkErr := s.warm.Create(t.Context(), segment, 1, []byte("payload"))
	if err := errors.Join(rowErr, blobErr, chunkErr, s.client.ScriptFlush(t.Context()).Err()); err != nil {
		t.Fatal(err)
	}
}

// log notes what a client sends.
type log struct {
	mu             sync.Mutex
	scripts, plain []string
}

func (l *log) note(cmds ...redis.Cmder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, cmd := range cmds {
		switch name := strings.ToUpper(cmd.Name()); name {
		case "HELLO", "AUTH", "CLIENT": // of the connection, allowed to everyone
		case "EVAL", "EVALSHA":
			for _, s := range luascripts.All() {
				if sent := cmd.Args()[1]; sent == s.SHA1 || sent == s.Source {
					l.scripts = append(l.scripts, s.Name)
				}
			}
		case "SCRIPT", "MEMORY", "OBJECT":
			l.plain = append(l.plain, name+" "+strings.ToUpper(cmd.Args()[1].(string)))
		default:
			l.plain = append(l.plain, name)
		}
	}
}

// sorted returns what was noted, each once.
func (l *log) sorted() (scripts, plain []string) {
	slices.Sort(l.scripts)
	slices.Sort(l.plain)
	return slices.Compact(l.scripts), slices.Compact(l.plain)
}

func (l *log) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (l *log) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { l.note(cmd); return next(ctx, cmd) }
}

func (l *log) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { l.note(cmds...); return next(ctx, cmds) }
}
