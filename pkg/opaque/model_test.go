package opaque

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// model is a versioned store in memory, as simple as can be. Expiries are far
// in the past or far in the future, so that no time passes in it.
type model struct {
	counter   int64
	rows      map[string]Row
	snapshots map[string]modelSnapshot
	issued    map[string]bool
}

type modelSnapshot struct {
	prefix string
	rows   map[string]Row
}

const (
	longPast  = 1_000_000_000_000
	farFuture = 4_000_000_000_000
)

func (m *model) live(key string) (Row, bool) {
	r, ok := m.rows[key]
	return r, ok && (r.ExpiresAt == 0 || r.ExpiresAt == farFuture)
}

func (m *model) holds(c Condition) bool {
	row, live := m.live(c.Key)
	switch c.Kind {
	case KindMissing:
		return !live
	case KindVersion:
		return live && row.Version == c.Version
	}
	return live && row.Value == c.Value
}

func (m *model) liveUnder(prefix string) map[string]Row {
	rows := map[string]Row{}
	for key := range m.rows {
		if row, live := m.live(key); live && strings.HasPrefix(key, prefix) {
			rows[key] = row
		}
	}
	return rows
}

var (
	modelKeys     = []string{"a", "a\x00", "a\x00b", "ab", "b", "\xff", "\xff\xff", "日本", "a*", "c"}
	modelPrefixes = []string{"", "a", "a\x00", "b", "\xff", "z", "日"}
	modelValues   = []string{"", "x", "\x00\xff", strings.Repeat("v", 300)}
)

// What a store answers never differs from the model, what a snapshot reads
// never changes while it is open, and the invariants hold after every step.
func TestStoreAgainstModel(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb := s.Client(t)
		prefix, run := s.Prefix(t), 0
		rapid.Check(t, func(rt *rapid.T) {
			run++
			f := fixture{mustStore(rt, rdb, fmt.Sprint(prefix, "-", run)), rdb}
			m := &model{rows: map[string]Row{}, snapshots: map[string]modelSnapshot{}, issued: map[string]bool{}}
			rt.Repeat(map[string]func(*rapid.T){
				"write":   func(rt *rapid.T) { m.write(rt, f) },
				"write2":  func(rt *rapid.T) { m.write(rt, f) },
				"read":    func(rt *rapid.T) { m.read(rt, f) },
				"open":    func(rt *rapid.T) { m.open(rt, f) },
				"drop":    func(rt *rapid.T) { m.drop(rt, f) },
				"scan":    func(rt *rapid.T) { m.scan(rt, f) },
				"collect": func(rt *rapid.T) { m.collect(rt, f) },
				"":        func(rt *rapid.T) { f.checkInvariants(rt) },
			})
			dropStore(rt, rdb, f)
		})
	})
}

func (m *model) write(t *rapid.T, f fixture) {
	var b Batch
	keys := rapid.Permutation(modelKeys).Draw(t, "keys")
	for _, key := range keys[:rapid.IntRange(0, 2).Draw(t, "conditions")] {
		row, live := m.live(key)
		guess := rapid.SampledFrom(modelValues).Draw(t, "guess")
		if live && rapid.Bool().Draw(t, "right") {
			guess = row.Value
		}
		b.Conditions = append(b.Conditions, rapid.SampledFrom([]Condition{
			Missing(key), ValueIs(key, guess), VersionIs(key, strconv.FormatInt(m.counter, 10)), VersionIs(key, cmp.Or(row.Version, "1")),
		}).Draw(t, "condition"))
	}
	slices.Reverse(keys)
	for _, key := range keys[:rapid.IntRange(1, 4).Draw(t, "mutations")] {
		b.Mutations = append(b.Mutations, rapid.SampledFrom([]Mutation{
			Delete(key),
			Put(key, rapid.SampledFrom(modelValues).Draw(t, "value"), rapid.SampledFrom([]Expiry{Never(), At(farFuture), At(longPast), Keep()}).Draw(t, "expiry")),
		}).Draw(t, "mutation"))
	}
	applied, err := f.Write(context.Background(), b)
	if failed := slices.IndexFunc(b.Conditions, func(c Condition) bool { return !m.holds(c) }); failed >= 0 {
		cause, ok := errors.AsType[*FailedCondition](err)
		if !errors.Is(err, storeerr.Conflict) || !ok || cause.Number != failed+1 {
			t.Fatalf("%v, want a conflict of condition %d", err, failed+1)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	m.counter++
	if applied.Version != strconv.FormatInt(m.counter, 10) || m.issued[applied.Version] {
		t.Fatalf("version %s, want %d", applied.Version, m.counter)
	}
	m.issued[applied.Version] = true
	for i, mutation := range b.Mutations {
		m.apply(t, mutation, applied.Written[i], applied.Version)
	}
}

func (m *model) apply(t *rapid.T, mutation Mutation, got Written, version string) {
	old, live := m.live(mutation.Key)
	want := Written{Key: mutation.Key}
	switch {
	case mutation.Kind == KindDelete && live:
		want.Outcome = OutcomeDeleted
		delete(m.rows, mutation.Key)
	case mutation.Kind == KindDelete:
		want.Outcome = OutcomeAbsent
	default:
		want.Outcome, want.Version, want.Replaced, want.ReplacedExpiry = OutcomePut, version, live, old.ExpiresAt
		if !live {
			want.ReplacedExpiry = 0
		}
		switch mutation.Expiry.mode {
		case at:
			want.ExpiresAt = mutation.Expiry.ms
		case keep:
			want.ExpiresAt = want.ReplacedExpiry
		}
		m.rows[mutation.Key] = Row{Key: mutation.Key, Value: mutation.Value, Version: version, ExpiresAt: want.ExpiresAt}
	}
	if got != want {
		t.Fatalf("%+v gave %+v, want %+v", mutation, got, want)
	}
}

func (m *model) read(t *rapid.T, f fixture) {
	_, readings, err := f.Read(context.Background(), modelKeys...)
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range modelKeys {
		want, live := m.live(key)
		if r := readings[i]; r.Found != live || (live && r.Row != want) || r.Err != nil {
			t.Fatalf("read %+v, want %+v, %v", r, want, live)
		}
	}
}

func (m *model) open(t *rapid.T, f fixture) {
	prefix := rapid.SampledFrom(modelPrefixes).Draw(t, "prefix")
	snapshot, err := f.OpenSnapshot(context.Background(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	m.snapshots[snapshot.ID] = modelSnapshot{prefix, m.liveUnder(prefix)}
}

func (m *model) drop(t *rapid.T, f fixture) {
	if len(m.snapshots) == 0 {
		t.Skip("no snapshot is open")
	}
	id := rapid.SampledFrom(slices.Sorted(maps.Keys(m.snapshots))).Draw(t, "snapshot")
	if existed, err := f.DropSnapshot(context.Background(), id); err != nil || !existed {
		t.Fatal(existed, err)
	}
	delete(m.snapshots, id)
}

// scan reads every open snapshot and the present, each in its own page size.
func (m *model) scan(t *rapid.T, f fixture) {
	size := rapid.IntRange(1, 4).Draw(t, "page size")
	for id, snapshot := range m.snapshots {
		got := map[string]Row{}
		v, err := f.openView(context.Background(), ScanOptions{Prefix: snapshot.prefix, Cursor: &Cursor{SnapshotID: id}, PageSize: size})
		if err != nil {
			t.Fatal(err)
		}
		v.rows(context.Background(), func(row Row, err error) bool {
			if err != nil {
				t.Fatal(err)
			}
			got[row.Key] = row
			return true
		})
		if !maps.Equal(got, snapshot.rows) {
			t.Fatalf("a snapshot of %q reads %+v, began as %+v", snapshot.prefix, got, snapshot.rows)
		}
	}
	prefix := rapid.SampledFrom(modelPrefixes).Draw(t, "prefix")
	rows, damaged, err := scanned(context.Background(), f, ScanOptions{Prefix: prefix, PageSize: size})
	want := m.liveUnder(prefix)
	if err != nil || damaged != nil || len(rows) != len(want) || !slices.IsSorted(keysOfRows(rows)) {
		t.Fatalf("scanned %+v, %q, %v, want %+v", rows, damaged, err, want)
	}
	for _, row := range rows {
		if want[row.Key] != row {
			t.Fatalf("scanned %+v, want %+v", row, want[row.Key])
		}
	}
}

func (m *model) collect(t *rapid.T, f fixture) {
	if rapid.Bool().Draw(t, "due") {
		f.makeDue(t)
	}
	if rapid.Bool().Draw(t, "whole") {
		if _, err := f.CollectAll(context.Background(), CollectOptions{Batch: 3}); err != nil {
			t.Fatal(err)
		}
	} else if _, err := f.Collect(context.Background(), 4); err != nil {
		t.Fatal(err)
	}
	for key, row := range m.rows {
		if row.ExpiresAt == longPast && len(m.snapshots) == 0 && f.rdb.Exists(context.Background(), f.keys.Row(key)).Val() == 0 {
			delete(m.rows, key)
		}
	}
}

func dropStore(t tb, rdb *redis.Client, f fixture) {
	t.Helper()
	for key := range f.dump(t) {
		f.do(t, "DEL", key)
	}
}
