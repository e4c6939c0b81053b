// Tests of the data file: what is saved comes back, and nothing else is
// touched.
package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/embedded"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// allBytes is a value that no text survives as.
func allBytes() string {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}

func closeNow(t testing.TB, s *embedded.Server) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// filled returns the path of a data file with one key of each type.
func filled(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	s := start(t, embedded.Options{Data: path})
	c, ctx, raw := dial(t, s, 0), context.Background(), allBytes()
	must(t,
		c.Set(ctx, "string"+raw, raw, 0), c.Set(ctx, "empty", "", 0),
		c.HSet(ctx, "hash", raw, raw, "", "", "f", "v"),
		c.RPush(ctx, "list", "b", "a", raw, "b"), c.SAdd(ctx, "set", "a", raw),
		c.ZAdd(ctx, "zset", redis.Z{Score: 1, Member: raw}, redis.Z{Score: 0.1, Member: "tenth"},
			redis.Z{Score: 1<<53 - 1, Member: "max"}, redis.Z{Score: 5e-324, Member: "least"},
			redis.Z{Score: math.Inf(-1), Member: "-inf"}, redis.Z{Score: math.Inf(1), Member: "inf"}))
	closeNow(t, s)
	return path
}

func TestDataComesBack(t *testing.T) {
	t.Parallel()
	path := filled(t)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v, want 0600", info.Mode(), err)
	}
	c, ctx, raw := dial(t, start(t, embedded.Options{Data: path}), 0), t.Context(), allBytes()
	if got := c.DBSize(ctx).Val(); got != 6 {
		t.Errorf("%d keys, want 6", got)
	}
	for name, check := range map[string]struct{ got, want any }{
		"string": {c.Get(ctx, "string"+raw).Val(), raw},
		"empty":  {[]any{c.Exists(ctx, "empty").Val(), c.Get(ctx, "empty").Val()}, []any{int64(1), ""}},
		"hash":   {c.HGetAll(ctx, "hash").Val(), map[string]string{raw: raw, "": "", "f": "v"}},
		"list":   {c.LRange(ctx, "list", 0, -1).Val(), []string{"b", "a", raw, "b"}},
		"set":    {c.SMembersMap(ctx, "set").Val(), map[string]struct{}{"a": {}, raw: {}}},
		"zset": {c.ZRangeWithScores(ctx, "zset", 0, -1).Val(), []redis.Z{
			{Score: math.Inf(-1), Member: "-inf"}, {Score: 5e-324, Member: "least"}, {Score: 0.1, Member: "tenth"},
			{Score: 1, Member: raw}, {Score: 1<<53 - 1, Member: "max"}, {Score: math.Inf(1), Member: "inf"}}},
	} {
		if !reflect.DeepEqual(check.got, check.want) {
			t.Errorf("%s = %.100q, want %.100q", name, check.got, check.want)
		}
	}
}

func TestAllDatabasesAreKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data")
	s := start(t, embedded.Options{Data: path})
	for db := range 16 {
		must(t, dial(t, s, db).Set(t.Context(), "k", db, 0))
	}
	closeNow(t, s)
	s = start(t, embedded.Options{Data: path})
	for db := range 16 {
		if got := dial(t, s, db).Get(t.Context(), "k").Val(); got != fmt.Sprint(db) {
			t.Errorf("database %d: k = %q", db, got)
		}
	}
}

func TestExpiriesAreMoments(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data")
	s := start(t, embedded.Options{Data: path})
	c, ctx := dial(t, s, 0), t.Context()
	soon := time.Now().Add(100 * time.Millisecond)
	late := time.Now().Add(time.Hour)
	must(t, c.Set(ctx, "lasting", "v", 0), c.Set(ctx, "soon", "v", 0), c.PExpireAt(ctx, "soon", soon),
		c.HSet(ctx, "late", "f", "v"), c.PExpireAt(ctx, "late", late))
	closeNow(t, s)
	<-time.After(time.Until(soon))
	c = dial(t, start(t, embedded.Options{Data: path}), 0)
	if c.Exists(ctx, "soon").Val() != 0 {
		t.Error("a key whose moment came while nothing ran is there")
	}
	if got := c.PExpireTime(ctx, "late").Val().Milliseconds(); got != late.UnixMilli() {
		t.Errorf("late expires at %d, want %d", got, late.UnixMilli())
	}
	if got := c.PTTL(ctx, "lasting").Val(); got != -1 {
		t.Errorf("lasting has TTL %v, want none", got)
	}
}

func TestReadingLeavesTheFileAlone(t *testing.T) {
	t.Parallel()
	path := filled(t)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, embedded.Options{Data: path})
	c, ctx := dial(t, s, 0), t.Context()
	tx := c.TxPipeline()
	tx.Time(ctx)
	tx.Get(ctx, "empty")
	_, err = tx.Exec(ctx)
	must(t, c.Eval(ctx, "return redis.call('ZRANGE', 'zset', 0, -1)", nil), c.Scan(ctx, 0, "*", 10), c.Info(ctx))
	if err != nil || s.Save() != nil {
		t.Fatal(err)
	}
	closeNow(t, s)
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("the file was written anew: %v", err)
	}
	fresh := filepath.Join(t.TempDir(), "fresh")
	closeNow(t, start(t, embedded.Options{Data: fresh}))
	if _, err := os.Stat(fresh); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a store in which nothing was written: %v, want no file", err)
	}
}

func TestDamagedFilesAreRefused(t *testing.T) {
	t.Parallel()
	good, err := os.ReadFile(filled(t))
	if err != nil {
		t.Fatal(err)
	}
	damage := map[string]string{
		"empty": "", "foreign": "REDIS0010\xfa", "text": "hello\n", "future": "keyspacectl-embedded 2\nrest",
		"longer": string(good) + "x",
	}
	for at := 1; at < len(good); at += len(good) / 37 {
		damage[fmt.Sprintf("cut at %d", at)] = string(good[:at])
		flipped := bytes.Clone(good)
		flipped[at] ^= 0x10
		damage[fmt.Sprintf("flipped at %d", at)] = string(flipped)
	}
	path := filepath.Join(t.TempDir(), "data")
	for name, content := range damage {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := embedded.Start(t.Context(), embedded.Options{Data: path})
		if !errors.Is(err, storeerr.Integrity) || !strings.Contains(err.Error(), path) {
			t.Fatalf("%s: Start = %v, %v, want storeerr.Integrity that names the file", name, s, err)
		}
		if after, err := os.ReadFile(path); string(after) != content || err != nil {
			t.Errorf("%s: the file has changed, %v", name, err)
		}
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, embedded.Options{Data: path}) // the lock was let go each time
}

func TestUnusablePlaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "none", "data"), os.DevNull} {
		if s, err := embedded.Start(t.Context(), embedded.Options{Data: path}); storeerr.KindOf(err) != storeerr.Invalid {
			t.Errorf("Start with %s = %v, %v, want it refused", path, s, err)
		}
	}
}

func TestOneProcessAtATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "data"), filepath.Join(dir, "link")
	closeNow(t, start(t, embedded.Options{Data: path}))
	first := start(t, embedded.Options{Data: path})
	must(t, dial(t, first, 0).Set(t.Context(), "k", "first", 0))
	if err := first.Save(); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		s, err := embedded.Start(ctx, embedded.Options{Data: name})
		cancel()
		if !errors.Is(err, storeerr.Unavailable) || storeerr.HintOf(err) == "" {
			t.Errorf("Start with %s in use = %v, %v, want storeerr.Unavailable with a hint", name, s, err)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := embedded.Start(canceled, embedded.Options{Data: path}); !errors.Is(err, context.Canceled) {
		t.Errorf("Start with a canceled context: %v, want context.Canceled", err)
	}
	got := make(chan string)
	go func() {
		s, err := embedded.Start(context.Background(), embedded.Options{Data: link})
		if err != nil {
			got <- err.Error()
			return
		}
		defer s.Close()
		c := redis.NewClient(&redis.Options{Addr: s.Addr()})
		defer c.Close()
		got <- c.Get(context.Background(), "k").Val()
	}()
	must(t, dial(t, first, 0).Set(t.Context(), "k", "last", 0))
	closeNow(t, first)
	if v := <-got; v != "last" {
		t.Errorf("the second server read %q, want what the first wrote last", v)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v, want it to stay a link", info.Mode(), err)
	}
}

// TestSaveShowsOneMoment saves again and again while scripts change two keys
// together, and looks at each file.
func TestSaveShowsOneMoment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, seen := filepath.Join(dir, "data"), filepath.Join(dir, "seen")
	s := start(t, embedded.Options{Data: path})
	c := dial(t, s, 0)
	stop, stopped := make(chan struct{}), make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			err := c.Eval(context.Background(), "redis.call('INCR', 'a') redis.call('SELECT', 1) redis.call('INCR', 'b')", nil).Err()
			if err != nil && !errors.Is(err, redis.Nil) {
				stopped <- err
				return
			}
		}
	}()
	for c.Exists(t.Context(), "a").Val() == 0 {
	}
	for range 20 {
		if err := s.Save(); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(seen, content, 0o600); err != nil {
			t.Fatal(err)
		}
		copied := start(t, embedded.Options{Data: seen})
		a, b := dial(t, copied, 0).Get(t.Context(), "a").Val(), dial(t, copied, 1).Get(t.Context(), "b").Val()
		if a == "" || a != b {
			t.Errorf("the file has a = %q and b = %q, want the same", a, b)
		}
		closeNow(t, copied)
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
}

func TestFailedSaveLeavesTheFile(t *testing.T) {
	t.Parallel()
	path := filled(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := embedded.Start(t.Context(), embedded.Options{Data: path})
	if err != nil {
		t.Fatal(err)
	}
	must(t, dial(t, s, 0).Set(t.Context(), "k", "v", 0))
	// Nothing can be written where a directory with something in it stands.
	if err := os.MkdirAll(filepath.Join(path+".tmp", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("Close() = %v, want an error that names the file", err)
	}
	if after, err := os.ReadFile(path); !bytes.Equal(before, after) || err != nil {
		t.Errorf("the file has changed, %v", err)
	}
}

func TestWhatCannotBeKeptIsRefused(t *testing.T) {
	t.Parallel()
	path := filled(t)
	c := dial(t, start(t, embedded.Options{Data: path}), 0)
	for _, args := range [][]any{
		{"XADD", "stream", "*", "f", "v"}, {"PFADD", "log", "v"}, {"HEXPIRE", "hash", 10, "FIELDS", 1, "f"},
		{"EVAL", "return redis.call('XADD', 'stream', '*', 'f', 'v')", 0},
	} {
		if err := c.Do(t.Context(), args...).Err(); err == nil || !strings.Contains(err.Error(), "data file") {
			t.Errorf("%v: %v, want it refused", args, err)
		}
	}
	must(t, dial(t, start(t, embedded.Options{}), 0).Do(t.Context(), "XADD", "stream", "*", "f", "v"))
}

func TestLeftoversOfAKilledProcess(t *testing.T) {
	t.Parallel()
	path := filled(t)
	if err := os.WriteFile(path+".tmp", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, embedded.Options{Data: path})
	must(t, dial(t, s, 0).Set(t.Context(), "k", "v", 0))
	closeNow(t, s)
	if _, err := os.Stat(path + ".tmp"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the leftover: %v, want it gone", err)
	}
}

func BenchmarkData(b *testing.B) {
	path := filepath.Join(b.TempDir(), "data")
	s := start(b, embedded.Options{Data: path})
	p := dial(b, s, 0).Pipeline()
	for i := range 10_000 {
		key := fmt.Sprintf("key-%06d", i)
		p.ZAdd(b.Context(), "row:"+strings.Repeat(key, 6), redis.Z{Score: float64(i), Member: "\x01" + strings.Repeat("v", 100)})
		p.ZAdd(b.Context(), "index", redis.Z{Member: key})
		p.HSet(b.Context(), "map", key, "row:"+key)
	}
	if _, err := p.Exec(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Run("Save", func(b *testing.B) {
		for b.Loop() {
			if err := s.Save(); err != nil {
				b.Fatal(err)
			}
		}
	})
	closeNow(b, s)
	b.Run("Load", func(b *testing.B) {
		for b.Loop() {
			closeNow(b, start(b, embedded.Options{Data: path}))
		}
	})
}
