package transfer

// Blobs among what is moved: they are never overwritten, and they need an end.

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func putBlob(t *testing.T, side Side, reference, payload string, retention int64) {
	t.Helper()
	if _, err := side.Blob.Put(context.Background(), reference, []byte(payload), retention); err != nil {
		t.Fatal(err)
	}
}

// moves are the ways from a side into another one that can be looked through
// first.
func moves(t *testing.T, from Side) map[string]func(to Side, o ImportOptions) (Summary, error) {
	t.Helper()
	text := archived(t, from, ExportOptions{})
	return map[string]func(to Side, o ImportOptions) (Summary, error){
		"import": func(to Side, o ImportOptions) (Summary, error) {
			return imports(to, text, ReadOptions{ImportOptions: o})
		},
		"copy": func(to Side, o ImportOptions) (Summary, error) {
			return Copy(context.Background(), from, to, ExportOptions{}, o)
		},
	}
}

// TestOverwriteStopsAtBlobs holds that a blob of other bytes is found before
// anything is overwritten, and that all else is, if it is left out.
func TestOverwriteStopsAtBlobs(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		from := newSide(t, s, "from")
		write(t, from, opaque.Put("k", "theirs", opaque.Never()))
		putBlob(t, from, "a", "theirs", 3_600_000)
		putBlob(t, from, "b", "theirs", 3_600_000)
		putBlob(t, from, "c", "theirs", 3_600_000)
		for way, move := range moves(t, from) {
			to := newSide(t, s, way)
			write(t, to, opaque.Put("k", "ours", opaque.Never()))
			putBlob(t, to, "b", "others", 3_600_000)
			before := contents(t, to)
			sum, err := move(to, ImportOptions{OnConflict: Overwrite})
			if !errors.Is(err, storeerr.Conflict) || !errors.As(err, new(*UntouchedError)) || sum.Done() > 0 ||
				!strings.Contains(err.Error(), `records conflict, the first: blob "b" holds other bytes`) || !strings.Contains(storeerr.HintOf(err), "blob delete") {
				t.Errorf("%s: %+v, %v, hint %q", way, sum, err, storeerr.HintOf(err))
			}
			sum, err = move(to, ImportOptions{OnConflict: Overwrite, DryRun: true})
			if want := (Summary{Created: 2, Replaced: 1, Conflicts: 1}); err != nil || counts(sum) != want || !strings.Contains(storeerr.HintOf(sum.ConflictOf(Overwrite)), "--keep-going") {
				t.Errorf("%s, dry: %+v, %v", way, sum, err)
			}
			if after := contents(t, to); !maps.Equal(before, after) {
				t.Errorf("%s: %v became %v", way, before, after)
			}

			want := Summary{Created: 2, Replaced: 1, LeftOut: 1}
			for _, dry := range []bool{true, false} {
				var toldOf []error
				sum, err = move(to, ImportOptions{OnConflict: Overwrite, KeepGoing: true, DryRun: dry, Told: func(err error) { toldOf = append(toldOf, err) }})
				if err != nil || counts(sum) != want || len(toldOf) != 1 || !strings.Contains(toldOf[0].Error(), `blob "b" holds other bytes`) {
					t.Errorf("%s, going on, dry run %v: %+v, %v, told %v", way, dry, sum, err, toldOf)
				}
			}
			if got, err := to.Blob.Read(t.Context(), "b"); err != nil || string(got.Payload) != "others" {
				t.Errorf("%s: the blob is %q, %v", way, got.Payload, err)
			}
			// Deleted, as the hint says, the rest comes.
			if _, err := to.Blob.Delete(t.Context(), "b"); err != nil {
				t.Fatal(err)
			}
			if sum, err = move(to, ImportOptions{OnConflict: Overwrite}); err != nil || counts(sum) != (Summary{Created: 1, Unchanged: 3}) {
				t.Errorf("%s, with the blob deleted: %+v, %v", way, sum, err)
			}
			same(t, from, to)
		}
	})
}

// TestBlobsWithoutAnEnd holds that a blob that never expires stops what gives
// it no end, before anything is written, or is left out.
func TestBlobsWithoutAnEnd(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		from := newSide(t, s, "from")
		write(t, from, opaque.Put("k", "v", opaque.Never()))
		putBlob(t, from, "a", "bytes", 3_600_000)
		if err := from.rdb.Set(t.Context(), from.Blob.Key("b"), "bytes", 0).Err(); err != nil {
			t.Fatal(err)
		}
		for way, move := range moves(t, from) {
			to := newSide(t, s, way)
			for _, policy := range []Policy{Fail, Overwrite} {
				sum, err := move(to, ImportOptions{OnConflict: policy})
				bad := errors.As(err, new(*BadRecord))
				if way == "import" {
					bad = errors.As(err, new(*archive.BadLine))
				}
				if !bad || storeerr.KindOf(err) != storeerr.Invalid || !errors.As(err, new(*UntouchedError)) || sum.Done() > 0 ||
					!strings.Contains(err.Error(), `blob "b" has no expiry`) || !strings.Contains(storeerr.HintOf(err), "--retention") {
					t.Errorf("%s, %s: %+v, %v, hint %q", way, policy, sum, err, storeerr.HintOf(err))
				}
			}
			if found := contents(t, to); len(found) > 0 {
				t.Errorf("%s wrote %v", way, found)
			}
			for _, dry := range []bool{true, false} {
				sum, err := move(to, ImportOptions{KeepGoing: true, DryRun: dry})
				if err != nil || counts(sum) != (Summary{Created: 2, LeftOut: 1}) {
					t.Errorf("%s, going on, dry run %v: %+v, %v", way, dry, sum, err)
				}
			}
			sum, err := move(to, ImportOptions{OnConflict: Skip, Retention: time.Hour, Verify: true})
			if err != nil || sum.Created != 1 || sum.Skipped != 1 {
				t.Errorf("%s, with a retention: %+v, %v", way, sum, err)
			}
		}
	})
}

// TestNamesThatCannotBe holds whose fault a name is that the destination cannot
// have: that of a mapping, or of the record.
func TestNamesThatCannotBe(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		to := newSide(t, s, "to")
		long := strings.Repeat("k", 1000)
		for name, c := range map[string]struct {
			record archive.Record
			kind   storeerr.Kind
			says   string
		}{
			"no key":     {row("a/", "v", 0).Record, storeerr.Invalid, `key "a/" becomes "": the key has 0 bytes`},
			"long key":   {row("b/"+long, "v", 0).Record, storeerr.Invalid, "the key has 2000 bytes"},
			"no blob":    {archive.Record{Kind: archive.Blob, Key: "a/", ExpiresAt: 1 << 42}, storeerr.Invalid, `blob "a/" becomes "": the reference is empty`},
			"no segment": {chunkItem("", "old", 1, "t").Record, storeerr.Invalid, `segment "old" becomes "a b"`},
			"late":       {row("c", "v", opaque.MaxExpiry+1).Record, storeerr.Integrity, `the row of key "c" expires past the year 9999`},
		} {
			o := ImportOptions{Map: []Mapping{{"a/", ""}, {"b/", long}}, Segments: []Mapping{{"old", "a b"}}}
			sum, err := Import(t.Context(), to, stream(item{Record: c.record}), o)
			if !errors.As(err, new(*BadRecord)) || storeerr.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) || !strings.Contains(storeerr.HintOf(err), "--keep-going") || sum.Done() > 0 {
				t.Errorf("%s: %+v, %v, hint %q", name, sum, err, storeerr.HintOf(err))
			}
			o.KeepGoing = true
			if sum, err = Import(t.Context(), to, stream(item{Record: c.record}), o); err != nil || sum.LeftOut != 1 {
				t.Errorf("%s, going on: %+v, %v", name, sum, err)
			}
		}
	})
}

// TestRenewedUntilAMoment holds that a blob gets the very end of its record,
// however long the import takes and whatever it thinks of the server's clock,
// and that it is read back.
func TestRenewedUntilAMoment(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := t.Context()
		rdb := s.Client(t)
		to, err := NewSide(rdb, "to")
		if err != nil {
			t.Fatal(err)
		}
		const moment = 4102444800000
		im := &importer{side: to, o: ImportOptions{OnConflict: Overwrite, Verify: true}, started: time.Now().Add(-time.Hour)}
		record := archive.Record{Kind: archive.Blob, Key: "b", Value: []byte("bytes"), ExpiresAt: moment}
		for _, gone := range []bool{false, true} {
			putBlob(t, to, "b", "bytes", 3_600_000)
			if gone {
				rdb.AddHook(&renewed{then: func() { s.Client(t).Del(ctx, to.Blob.Key("b")) }})
			}
			var done outcome
			err := im.blob(ctx, &record, &done)
			want := Summary{Replaced: 1}
			if gone {
				want.Differ = 1
			}
			if err != nil || done.sum != want {
				t.Errorf("gone behind it %v: %+v, %v", gone, done, err)
			}
			if end, err := rdb.Do(ctx, "PEXPIRETIME", to.Blob.Key("b")).Int64(); !gone && (err != nil || end != moment) {
				t.Errorf("it ends at %d, %v", end, err)
			}
			if _, err := to.Blob.Delete(ctx, "b"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// renewed is a hook that does something behind a renewal.
type renewed struct{ then func() }

func (r *renewed) DialHook(next redis.DialHook) redis.DialHook { return next }
func (r *renewed) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
func (r *renewed) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if answer, ok := cmd.(*redis.Cmd); ok && err == nil {
			if texts, _ := answer.StringSlice(); len(texts) > 0 && texts[0] == string(blob.Renewed) {
				r.then()
			}
		}
		return err
	}
}

// TestRetentionOfWhatIsThere holds that a retention is given to equal rows and
// blobs, too, where it overwrites, and else leaves them their ends.
func TestRetentionOfWhatIsThere(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := t.Context()
		from := newSide(t, s, "from")
		write(t, from, opaque.Put("lasting", "v", opaque.Never()), opaque.Put("soon", "v", opaque.After(time.Hour)))
		putBlob(t, from, "b", "bytes", 3_600_000)
		for way, move := range moves(t, from) {
			to := newSide(t, s, way)
			if sum, err := move(to, ImportOptions{}); err != nil || sum.Created != 3 {
				t.Fatalf("%s: %+v, %v", way, sum, err)
			}
			began, err := to.now(ctx)
			if err != nil {
				t.Fatal(err)
			}
			ends := func() []int64 {
				_, rows, err := to.Opaque.Read(ctx, "lasting", "soon")
				if err != nil {
					t.Fatal(err)
				}
				there, err := to.Blob.Read(ctx, "b")
				if err != nil {
					t.Fatal(err)
				}
				return []int64{rows[0].Row.ExpiresAt, rows[1].Row.ExpiresAt, there.ExpiresAt}
			}
			o := ImportOptions{OnConflict: Skip, Retention: 48 * time.Hour, Verify: true}
			if sum, err := move(to, o); err != nil || counts(sum) != (Summary{Unchanged: 2, Skipped: 1}) {
				t.Errorf("%s, skip: %+v, %v", way, sum, err)
			}
			if got := ends(); got[0] != 0 || got[1] > began+7_200_000 || got[2] > began+7_200_000 {
				t.Errorf("%s, skip: they end at %v", way, got)
			}
			o.OnConflict = Overwrite
			for _, o.DryRun = range []bool{true, false} {
				if sum, err := move(to, o); err != nil || counts(sum) != (Summary{Replaced: 3}) {
					t.Errorf("%s, overwrite, dry run %v: %+v, %v", way, o.DryRun, sum, err)
				}
			}
			for i, end := range ends() {
				if want := began + o.Retention.Milliseconds(); end < want-1000 || end > want+600_000 {
					t.Errorf("%s: the end of %d is %d, want %d", way, i, end, want)
				}
			}
		}
	})
}

func TestRetained(t *testing.T) {
	t.Parallel()
	const began, now, hour = 1_000_000, 1_060_000, 3_600_000
	for _, c := range []struct {
		policy Policy
		there  int64
		own    bool
		want   bool
	}{
		{Fail, 0, true, false}, {Fail, 1, false, true}, {Skip, now + 2*hour, false, true},
		{Overwrite, 0, true, false}, {Overwrite, now + hour, false, true}, {Overwrite, now + hour + 1000, false, true},
		{Overwrite, now + hour + 1001, false, false}, {Overwrite, now + hour - 1001, false, false},
		// Its own it may have written all the while.
		{Overwrite, now + hour - 1001, true, true}, {Overwrite, began + hour - 1000, true, true}, {Overwrite, began + hour - 1001, true, false},
	} {
		im := &importer{o: ImportOptions{OnConflict: c.policy, Retention: time.Hour}, startedAt: began}
		if got := im.retained(c.there, now, c.own); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
