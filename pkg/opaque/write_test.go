package opaque

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		f := newFixture(t, s)

		first := f.write(t, Batch{Mutations: []Mutation{Put("a", "1", Never()), Put("b", "", After(time.Hour)), Delete("none")}})
		if first.Version != "1" {
			t.Errorf("first version %q", first.Version)
		}
		wantB := first.Now + time.Hour.Milliseconds()
		for i, want := range []Written{
			{Key: "a", Outcome: OutcomePut, Version: "1"},
			{Key: "b", Outcome: OutcomePut, Version: "1", ExpiresAt: wantB},
			{Key: "none", Outcome: OutcomeAbsent},
		} {
			if first.Written[i] != want {
				t.Errorf("wrote %+v, want %+v", first.Written[i], want)
			}
		}

		second := f.write(t, Batch{
			Conditions: []Condition{VersionIs("a", "1"), ValueIs("b", ""), Missing("none")},
			Mutations:  []Mutation{Delete("a"), Put("b", "2", Keep())},
		})
		for i, want := range []Written{
			{Key: "a", Outcome: OutcomeDeleted},
			{Key: "b", Outcome: OutcomePut, Version: "2", ExpiresAt: wantB, Replaced: true, ReplacedExpiry: wantB},
		} {
			if second.Written[i] != want {
				t.Errorf("wrote %+v, want %+v", second.Written[i], want)
			}
		}

		_, readings, err := f.Read(ctx, "b", "a", "none", "b")
		if err != nil {
			t.Fatal(err)
		}
		b := Reading{Key: "b", Found: true, Row: Row{Key: "b", Value: "2", Version: "2", ExpiresAt: wantB}}
		for i, want := range []Reading{b, {Key: "a", Deleted: true}, {Key: "none"}, b} {
			if readings[i] != want {
				t.Errorf("read %+v, want %+v", readings[i], want)
			}
		}
		f.checkInvariants(t)
	})
}

func TestConflictChangesNothing(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		f.put(t, "live", "x")
		f.put(t, "gone", "x")
		f.delete(t, "gone")
		f.write(t, Batch{Mutations: []Mutation{Put("past", "x", At(1))}})
		before := f.dump(t)
		for _, c := range []Condition{
			Missing("live"), VersionIs("live", "2"), ValueIs("live", "xx"), ValueIs("live", "y"), ValueIs("live", ""),
			VersionIs("gone", "3"), ValueIs("gone", ""), VersionIs("past", "4"), ValueIs("past", "x"), VersionIs("never", "1"),
		} {
			_, err := f.Write(context.Background(), Batch{
				Conditions: []Condition{Missing("other"), c},
				Mutations:  []Mutation{Put("other", "1", Never()), Delete("live")},
			})
			failed, ok := errors.AsType[*FailedCondition](err)
			if !errors.Is(err, storeerr.Conflict) || !ok || failed.Number != 2 || failed.Condition != c {
				t.Errorf("%+v: %v, want a conflict", c, err)
			}
		}
		if after := f.dump(t); !maps.Equal(before, after) {
			t.Errorf("a conflict changed %v to %v", before, after)
		}
		for _, c := range []Condition{Missing("gone"), Missing("past"), Missing("never"), VersionIs("live", "1"), ValueIs("live", "x")} {
			f.write(t, Batch{Conditions: []Condition{c}})
		}
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	many := func(n int) (m []Mutation) {
		for i := range n {
			m = append(m, Delete(fmt.Sprint(i)))
		}
		return m
	}
	long := strings.Repeat("k", MaxKeyBytes)
	value := strings.Repeat("v", MaxValueBytes)
	four := []Mutation{Put("1", value, Never()), Put("2", value, Never()), Put("3", value, Never())}
	refused := map[string]Batch{
		"nothing":          {},
		"empty key":        {Mutations: many(0), Conditions: []Condition{Missing("")}},
		"long key":         {Mutations: []Mutation{Delete(long + "k")}},
		"long value":       {Mutations: []Mutation{Put("k", value+"v", Never())}},
		"empty version":    {Conditions: []Condition{VersionIs("k", "")}},
		"long version":     {Conditions: []Condition{VersionIs("k", strings.Repeat("1", MaxVersionBytes+1))}},
		"long expected":    {Conditions: []Condition{ValueIs("k", value+"v")}},
		"key put twice":    {Mutations: []Mutation{Put("k", "1", Never()), Delete("k")}},
		"condition twice":  {Conditions: []Condition{Missing("k"), VersionIs("k", "1")}},
		"too many keys":    {Mutations: many(MaxBatchKeys), Conditions: []Condition{Missing("one more")}},
		"too many bytes":   {Mutations: append(four, Put("4", value, Never()))},
		"no retention":     {Mutations: []Mutation{Put("k", "", After(0))}},
		"negative":         {Mutations: []Mutation{Put("k", "", After(-time.Second))}},
		"below a ms":       {Mutations: []Mutation{Put("k", "", After(time.Microsecond))}},
		"past year 9999":   {Mutations: []Mutation{Put("k", "", At(MaxExpiry+1))}},
		"expiry of 0":      {Mutations: []Mutation{Put("k", "", At(0))}},
		"unknown kind":     {Mutations: []Mutation{{Kind: "move", Key: "k"}}},
		"unknown question": {Conditions: []Condition{{Kind: "exists", Key: "k"}}},
	}
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		for name, b := range refused {
			if _, err := f.Write(context.Background(), b); !errors.Is(err, storeerr.Invalid) {
				t.Errorf("%s: %v, want invalid", name, err)
			}
		}
		// Retention within its limit, but not from now on.
		beyond := Batch{Mutations: []Mutation{{Kind: KindPut, Key: "k", Expiry: Expiry{after, MaxExpiry}}}}
		if _, err := f.Write(context.Background(), beyond); !errors.Is(err, storeerr.Invalid) {
			t.Errorf("now + retention past the year 9999: %v, want invalid", err)
		}
		if left := f.dump(t); len(left) != 0 {
			t.Errorf("refused batches left %v", left)
		}
		f.write(t, Batch{Mutations: many(MaxBatchKeys)})
		f.write(t, Batch{Mutations: append(four, Put(long, "", At(MaxExpiry)))})
		f.checkInvariants(t)
	})
}

func TestWriteRefusesDamageBeforeChanging(t *testing.T) {
	t.Parallel()
	damage := map[string]func(t *testing.T, f fixture){
		"row of another type": func(t *testing.T, f fixture) { f.do(t, "SET", f.keys.Row("k"), "x") },
		"unknown tag":         func(t *testing.T, f fixture) { f.do(t, "ZADD", f.keys.Row("k"), 5, "\x02\x95") },
		"broken body":         func(t *testing.T, f fixture) { f.do(t, "ZADD", f.keys.Row("k"), 5, "\x01\x95\xa1k") },
		"another key": func(t *testing.T, f fixture) {
			f.do(t, "ZADD", f.keys.Row("k"), 5, string(Member{Key: "l", Version: "5"}.Append(nil)))
		},
		"counter no number": func(t *testing.T, f fixture) { f.do(t, "SET", f.keys.Sequence(), "x") },
		"counter lost":      func(t *testing.T, f fixture) { f.do(t, "DEL", f.keys.Sequence()) },
		"counter behind":    func(t *testing.T, f fixture) { f.do(t, "SET", f.keys.Sequence(), "0") },
		"counter of 2^53":   func(t *testing.T, f fixture) { f.do(t, "SET", f.keys.Sequence(), "9007199254740992") },
		"counter a list": func(t *testing.T, f fixture) {
			f.do(t, "DEL", f.keys.Sequence())
			f.do(t, "HSET", f.keys.Sequence(), "a", "b")
		},
		"index a string":    func(t *testing.T, f fixture) { f.do(t, "SET", f.keys.Index(), "x") },
		"map a string":      func(t *testing.T, f fixture) { f.do(t, "SET", f.keys.Map(), "x") },
		"cleanup a string":  func(t *testing.T, f fixture) { f.do(t, "SET", f.keys.Cleanup(), "x") },
		"expiry a string":   func(t *testing.T, f fixture) { f.do(t, "SET", f.keys.SnapshotExpiry(), "x") },
		"boundary a string": func(t *testing.T, f fixture) { f.do(t, "SET", f.keys.SnapshotBoundary(), "x") },
	}
	for name, plant := range damage {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testserver.Each(t, func(t *testing.T, s testserver.Server) {
				f := newFixture(t, s)
				f.put(t, "k", "1")
				f.put(t, "other", "1")
				plant(t, f)
				before := f.dump(t)
				_, err := f.Write(context.Background(), Batch{Mutations: []Mutation{Put("other", "2", Never()), Put("k", "2", Never())}})
				if !errors.Is(err, storeerr.Integrity) {
					t.Errorf("%v, want integrity", err)
				}
				var e *storeerr.Error
				if !errors.As(err, &e) || e.RedisKey == "" {
					t.Errorf("%v names no Redis key", err)
				}
				if after := f.dump(t); !maps.Equal(before, after) {
					t.Errorf("the refusal changed %v to %v", before, after)
				}
			})
		})
	}
}

func TestOtherRowsDamageIsNoHindrance(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		f.put(t, "poison", "1")
		f.do(t, "ZADD", f.keys.Row("poison"), 9, "\x07")
		f.do(t, "ZADD", f.keys.Cleanup(), 1, "poison")
		f.put(t, "k", "1")
		if _, err := f.Collect(context.Background(), PassSize); err != nil {
			t.Errorf("collecting beside a poison row: %v", err)
		}
		_, readings, err := f.Read(context.Background(), "poison", "k")
		if err != nil || !readings[1].Found || !errors.Is(readings[0].Err, storeerr.Integrity) {
			t.Errorf("read %+v, %v", readings, err)
		}
	})
}

func TestBacklog(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		f := newFixture(t, s)
		f.put(t, "k", "0")
		snapshot, err := f.OpenSnapshot(ctx, "")
		if err != nil {
			t.Fatal(err)
		}
		for i := range MaxRowVersions - 1 {
			f.put(t, "k", fmt.Sprint(i+1))
		}
		before := f.dump(t)
		_, err = f.Write(ctx, Batch{Mutations: []Mutation{Put("other", "", Never()), Put("k", "one more", Never())}})
		if !errors.Is(err, storeerr.Backlog) || storeerr.HintOf(err) == "" {
			t.Fatalf("the 128th put: %v, want backlog with a hint", err)
		}
		after := f.dump(t)
		for _, key := range []string{f.keys.Row("k"), f.keys.Index(), f.keys.Sequence()} {
			if before[key] != after[key] {
				t.Errorf("the refusal changed %s", key)
			}
		}
		f.put(t, "other", "is free")
		if _, err := f.DropSnapshot(ctx, snapshot.ID); err != nil {
			t.Fatal(err)
		}
		f.put(t, "k", "one more")
		if n := f.do(t, "ZCARD", f.keys.Row("k")); n != int64(1) {
			t.Errorf("%v versions are left without a snapshot", n)
		}
		f.checkInvariants(t)
	})
}

func TestCleanupIsNeverPutOff(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		score := func(key string) float64 {
			return f.rdb.ZScore(context.Background(), f.keys.Cleanup(), key).Val()
		}
		f.put(t, "k", "1")
		f.delete(t, "k")
		f.do(t, "ZADD", f.keys.Cleanup(), 5, "k")
		f.write(t, Batch{Mutations: []Mutation{Put("k", "2", Never())}})
		f.delete(t, "k")
		f.do(t, "ZADD", f.keys.Cleanup(), 5, "k")
		if _, err := f.OpenSnapshot(context.Background(), ""); err != nil {
			t.Fatal(err)
		}
		f.put(t, "k", "3")
		if got := score("k"); got != 5 {
			t.Errorf("due at %v after a put over history, was due at 5", got)
		}
		// A renewed lease is due later than it was.
		f.write(t, Batch{Mutations: []Mutation{Put("lease", "", At(4e12))}})
		if got := score("lease"); got != 4e12+60000 {
			t.Errorf("a lease is due at %v", got)
		}
	})
}

func TestNumbersLeaveLuaExactly(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		for _, counter := range []string{"999999999", "1999999999999", "99999999999999", "123456789012345", "9007199254740990"} {
			f.do(t, "SET", f.keys.Sequence(), counter)
			applied := f.put(t, "k"+counter, "v")
			want := fmt.Sprint(parseInt(t, counter) + 1)
			if applied.Version != want {
				t.Errorf("version %s after counter %s", applied.Version, counter)
			}
			for _, expiry := range []int64{1e9, 2e12, 1e14, MaxExpiry} {
				key := fmt.Sprintf("%s/%d", counter, expiry)
				f.do(t, "SET", f.keys.Sequence(), counter)
				if got := f.write(t, Batch{Mutations: []Mutation{Put(key, "", At(expiry))}}).Written[0].ExpiresAt; got != expiry {
					t.Errorf("expiry %d came back as %d", expiry, got)
				}
				want := Member{Key: key, Version: want, ExpiresAt: expiry}
				members := f.rdb.ZRange(context.Background(), f.keys.Row(key), 0, -1).Val()
				if len(members) != 1 || members[0] != string(want.Append(nil)) {
					t.Errorf("wrote %q, want %q", members, want.Append(nil))
				}
			}
		}
	})
}

func TestConcurrentIncrements(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		const workers, each = 8, 20
		ctx := context.Background()
		f := newFixture(t, s)
		f.put(t, "n", "0")
		failures := make(chan error, workers)
		for range workers {
			go func() { failures <- increment(ctx, f.Store, each) }()
		}
		for range workers {
			if err := <-failures; err != nil {
				t.Error(err)
			}
		}
		_, readings, err := f.Read(ctx, "n")
		if err != nil || readings[0].Row.Value != fmt.Sprint(workers*each) {
			t.Errorf("counted to %+v, %v", readings, err)
		}
	})
}

func increment(ctx context.Context, s *Store, times int) error {
	for done := 0; done < times; {
		_, readings, err := s.Read(ctx, "n")
		if err != nil {
			return err
		}
		var n int
		if _, err := fmt.Sscan(readings[0].Row.Value, &n); err != nil {
			return err
		}
		_, err = s.Write(ctx, Batch{
			Conditions: []Condition{VersionIs("n", readings[0].Row.Version)},
			Mutations:  []Mutation{Put("n", fmt.Sprint(n+1), Never())},
		})
		switch {
		case err == nil:
			done++
		case !errors.Is(err, storeerr.Conflict):
			return err
		}
	}
	return nil
}

// A server that fills up refuses a batch whole.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t)
	f := newFixture(t, s)
	f.put(t, "k", "1")
	before := f.dump(t)
	f.do(t, "CONFIG", "SET", "maxmemory", "1mb")
	_, err := f.Write(context.Background(), Batch{Mutations: []Mutation{Put("a", "", Never()), Put("b", "", Never()), Put("k", "2", Never())}})
	if !errors.Is(err, storeerr.OutOfMemory) {
		t.Errorf("%v, want out of memory", err)
	}
	if after := f.dump(t); !maps.Equal(before, after) {
		t.Errorf("the refusal changed %v to %v", before, after)
	}
	if _, readings, err := f.Read(context.Background(), "k"); err != nil || readings[0].Row.Value != "1" {
		t.Errorf("read %+v, %v", readings, err)
	}
	f.checkInvariants(t)
}
