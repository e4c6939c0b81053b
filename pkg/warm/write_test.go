package warm_test

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

func TestCreateUpdateDelete(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *warm.Store) {
		ctx := t.Context()
		created, err := store.Create(ctx, users, 7, []byte("one"))
		if err != nil || created.Outcome != warm.Created || created.Now == 0 {
			t.Fatalf("create: %+v, %v", created, err)
		}
		got, err := store.Get(ctx, users, 7)
		if err != nil || string(got.Payload) != "one" || got.Token != created.Token || got.Size != 3 || got.Number != 7 || got.Segment != users {
			t.Errorf("get: %+v, %v", got, err)
		}
		if score, err := rdb.ZScore(ctx, store.IndexKey(users), "7").Result(); err != nil || score != 7 {
			t.Errorf("the index holds 7 with %v, %v", score, err)
		}
		updated, err := store.Update(ctx, users, 7, nil, created.Token)
		if err != nil || updated.Outcome != warm.Updated || updated.Token == created.Token {
			t.Fatalf("update: %+v, %v", updated, err)
		}
		got, err = store.Get(ctx, users, 7)
		if err != nil || len(got.Payload) != 0 || got.Token != updated.Token {
			t.Errorf("get after update: %+v, %v", got, err)
		}
		deleted, err := store.Delete(ctx, users, 7, updated.Token)
		if err != nil || deleted.Outcome != warm.Deleted || deleted.Token != "" {
			t.Fatalf("delete: %+v, %v", deleted, err)
		}
		if n := rdb.Exists(ctx, store.ChunkKey(users, 7), store.IndexKey(users)).Val(); n != 0 {
			t.Errorf("%d keys are left", n)
		}
		_, err = store.Get(ctx, users, 7)
		wantKind(t, err, storeerr.NotFound)
	})
}

func TestConflictsChangeNothing(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *warm.Store) {
		ctx := t.Context()
		held := mustCreate(t, store, 1, "kept")
		operations := []struct {
			name string
			do   func() (warm.Result, error)
			want warm.Mismatch
		}{
			{"create", func() (warm.Result, error) { return store.Create(ctx, users, 1, nil) }, warm.Mismatch{Token: held}},
			{"update", func() (warm.Result, error) { return store.Update(ctx, users, 1, nil, "other") }, warm.Mismatch{Token: held}},
			{"delete", func() (warm.Result, error) { return store.Delete(ctx, users, 1, "other") }, warm.Mismatch{Token: held}},
			{"update missing", func() (warm.Result, error) { return store.Update(ctx, users, 2, nil, held) }, warm.Mismatch{Missing: true}},
			{"delete missing", func() (warm.Result, error) { return store.Delete(ctx, users, 2, held) }, warm.Mismatch{Missing: true}},
		}
		for _, op := range operations {
			_, err := op.do()
			wantKind(t, err, storeerr.Conflict)
			var found *warm.Mismatch
			if !errors.As(err, &found) || *found != op.want {
				t.Errorf("%s: found %+v, want %+v", op.name, found, op.want)
			}
		}
		if got, err := store.Get(ctx, users, 1); err != nil || string(got.Payload) != "kept" || got.Token != held {
			t.Errorf("the chunk is %+v, %v now", got, err)
		}
		if got := list(t, store, false); len(got.numbers) != 1 {
			t.Errorf("chunks %v now, want the one", got.numbers)
		}
	})
}

func TestTokensAreNotReused(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *warm.Store) {
		first := mustCreate(t, store, 1, "x")
		if _, err := store.Delete(t.Context(), users, 1, first); err != nil {
			t.Fatal(err)
		}
		if second := mustCreate(t, store, 1, "x"); second == first {
			t.Error("the same token came again")
		}
		_, err := store.Update(t.Context(), users, 1, nil, first)
		wantKind(t, err, storeerr.Conflict)
	})
}

func TestDamageIsLeftAlone(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *warm.Store) {
		ctx := t.Context()
		rdb.Set(ctx, store.ChunkKey(users, 1), "string", 0)
		rdb.HSet(ctx, store.ChunkKey(users, 2), "b", "no token")
		rdb.HSet(ctx, store.ChunkKey(users, 3), "t", "tok")
		for _, test := range []struct {
			name  string
			chunk uint16
			do    func(chunk uint16) error
			want  storeerr.Kind
		}{
			{"get", 1, func(c uint16) error { _, err := store.Get(ctx, users, c); return err }, storeerr.Integrity},
			{"get", 2, func(c uint16) error { _, err := store.Get(ctx, users, c); return err }, storeerr.Integrity},
			{"get", 3, func(c uint16) error { _, err := store.Get(ctx, users, c); return err }, storeerr.Integrity},
			{"create", 1, func(c uint16) error { _, err := store.Create(ctx, users, c, nil); return err }, storeerr.Integrity},
			{"create", 2, func(c uint16) error { _, err := store.Create(ctx, users, c, nil); return err }, storeerr.Conflict},
			{"create", 3, func(c uint16) error { _, err := store.Create(ctx, users, c, nil); return err }, storeerr.Conflict},
			{"update", 1, func(c uint16) error { _, err := store.Update(ctx, users, c, nil, "tok"); return err }, storeerr.Integrity},
			{"update", 2, func(c uint16) error { _, err := store.Update(ctx, users, c, nil, "tok"); return err }, storeerr.Integrity},
			{"delete", 1, func(c uint16) error { _, err := store.Delete(ctx, users, c, "tok"); return err }, storeerr.Integrity},
			{"delete", 2, func(c uint16) error { _, err := store.Delete(ctx, users, c, "tok"); return err }, storeerr.Integrity},
		} {
			err := test.do(test.chunk)
			if storeerr.KindOf(err) != test.want {
				t.Errorf("%s %d: %v, want %s", test.name, test.chunk, err, test.want)
			}
			if err != nil && !strings.Contains(err.Error(), store.ChunkKey(users, test.chunk)) {
				t.Errorf("%s %d: %v names no key", test.name, test.chunk, err)
			}
		}
		if got := rdb.Get(ctx, store.ChunkKey(users, 1)).Val(); got != "string" {
			t.Errorf("the string is %q now", got)
		}
		if got := rdb.HGetAll(ctx, store.ChunkKey(users, 2)).Val(); !maps.Equal(got, map[string]string{"b": "no token"}) {
			t.Errorf("the hash is %v now", got)
		}
		if rdb.Exists(ctx, store.IndexKey(users)).Val() != 0 {
			t.Error("there is an index now")
		}
	})
}

func TestForeignIndexIsLeftAlone(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *warm.Store) {
		ctx := t.Context()
		held := mustCreate(t, store, 1, "kept")
		rdb.Del(ctx, store.IndexKey(users))
		rdb.Set(ctx, store.IndexKey(users), "string", 0)
		_, err := store.Create(ctx, users, 2, nil)
		wantKind(t, err, storeerr.Integrity)
		_, err = store.Delete(ctx, users, 1, held)
		wantKind(t, err, storeerr.Integrity)
		if rdb.Exists(ctx, store.ChunkKey(users, 2)).Val() != 0 || rdb.Exists(ctx, store.ChunkKey(users, 1)).Val() != 1 {
			t.Error("the chunks have changed")
		}
		for _, err := range store.List(ctx, users, warm.ListOptions{}) {
			wantKind(t, err, storeerr.Integrity)
		}
	})
}

func TestConcurrentIncrements(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *warm.Store) {
		const writers, times = 16, 50
		mustCreate(t, store, 1, "0")
		var group sync.WaitGroup
		for range writers {
			group.Go(func() {
				for range times {
					if err := increment(t.Context(), store); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		group.Wait()
		if got, err := store.Get(t.Context(), users, 1); err != nil || string(got.Payload) != "800" {
			t.Errorf("the counter is %q, %v, want 800", got.Payload, err)
		}
	})
}

// increment adds one to chunk 1, as often as others come between.
func increment(ctx context.Context, store *warm.Store) error {
	for {
		got, err := store.Get(ctx, users, 1)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(got.Payload))
		if err != nil {
			return err
		}
		_, err = store.Update(ctx, users, 1, []byte(strconv.Itoa(n+1)), got.Token)
		if !errors.Is(err, storeerr.Conflict) {
			return err
		}
	}
}

func TestWriteAfterLostAnswer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		overwrite  bool
		create     bool
		wantResult warm.Outcome
		wantKind   storeerr.Kind
	}{
		{"create went through", false, true, warm.Created, ""},
		{"update went through", false, false, warm.Updated, ""},
		{"create overwritten since", true, true, "", storeerr.UnknownOutcome},
		{"update overwritten since", true, false, "", storeerr.UnknownOutcome},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			testserver.Each(t, func(t *testing.T, s testserver.Server) {
				prefix := s.Prefix(t)
				other := open(t, s.Client(t), prefix)
				rdb := s.Client(t)
				store := open(t, rdb, prefix)
				expect := ""
				if !test.create {
					expect = mustCreate(t, other, 1, "old")
				}
				rdb.AddHook(&lost{after: func() {
					if !test.overwrite {
						return
					}
					got, err := other.Get(t.Context(), users, 1)
					if err != nil {
						t.Error(err)
					}
					if _, err := other.Update(t.Context(), users, 1, []byte("theirs"), got.Token); err != nil {
						t.Error(err)
					}
				}})
				var result warm.Result
				var err error
				if test.create {
					result, err = store.Create(t.Context(), users, 1, []byte("ours"))
				} else {
					result, err = store.Update(t.Context(), users, 1, []byte("ours"), expect)
				}
				wantKind(t, err, test.wantKind)
				if result.Outcome != test.wantResult {
					t.Errorf("outcome %q, want %q", result.Outcome, test.wantResult)
				}
				if got, err := other.Get(t.Context(), users, 1); err == nil && (got.Token == result.Token) == test.overwrite {
					t.Errorf("token %s is in place, the result names %q", got.Token, result.Token)
				}
			})
		})
	}
}
