package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

func newSide(t *testing.T, s testserver.Server, prefix string) Side {
	t.Helper()
	side, err := NewSide(s.Client(t), prefix)
	if err != nil {
		t.Fatal(err)
	}
	return side
}

// fillMixed writes all that stores may hold: rows rows, and some of each kind.
func fillMixed(t *testing.T, side Side, rows int) {
	t.Helper()
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	puts := []opaque.Mutation{
		opaque.Put("empty", "", opaque.Never()),
		opaque.Put("binary", string(every), opaque.Never()),
		opaque.Put("mesh-node\x00eu\x00\x00", `{"ids":[],"n":15947634569000323,"d":1.10}`, opaque.Never()),
		opaque.Put("\xff\xfe", "key of no text", opaque.Never()),
		opaque.Put("日本語/👍🏽/e\u0301", strings.Repeat("[", 1001)+strings.Repeat("]", 1001), opaque.Never()),
		opaque.Put("foo", "1", opaque.Never()), opaque.Put("foo/", "2", opaque.Never()), opaque.Put(" foo ", "3", opaque.Never()),
		opaque.Put("expires", "soon\r\n", opaque.After(time.Hour)),
		opaque.Put("deleted", "x", opaque.Never()),
	}
	for i := range rows {
		puts = append(puts, opaque.Put(fmt.Sprintf("row/%06d", i), strings.Repeat("v", i%300), opaque.Never()))
	}
	for len(puts) > 0 {
		n := min(500, len(puts))
		write(t, side, puts[:n]...)
		puts = puts[n:]
	}
	write(t, side, opaque.Put("large", strings.Repeat("\x00\xff", 1<<19), opaque.Never()))
	write(t, side, opaque.Delete("deleted"))
	for i, payload := range []string{"", "text", string(every), strings.Repeat("x", 3<<20)} {
		if _, err := side.Blob.Put(context.Background(), fmt.Sprintf("blob:{%d}", i), []byte(payload), 3_600_000); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 250 {
		for _, segment := range []warm.Segment{{Name: "users"}, {Name: "groups"}, {Namespace: "eu", Name: "users"}} {
			if _, err := side.Warm.Create(context.Background(), segment, uint16(i*7), []byte(strings.Repeat("\x01", i))); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func write(t *testing.T, side Side, mutations ...opaque.Mutation) {
	t.Helper()
	if _, err := side.Opaque.Write(context.Background(), opaque.Batch{Mutations: mutations}); err != nil {
		t.Fatal(err)
	}
}

// archived returns the archive of a side.
func archived(t *testing.T, side Side, o ExportOptions) string {
	t.Helper()
	var out bytes.Buffer
	_, err := WriteArchive(context.Background(), &out, side, WriteOptions{ExportOptions: o, Skipped: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// imports imports a text as a file.
func imports(side Side, text string, o ReadOptions) (Summary, error) {
	again := func() (*archive.Reader, error) { return archive.NewReader(strings.NewReader(text)) }
	r, err := again()
	if err != nil {
		return Summary{}, err
	}
	return ReadArchive(context.Background(), side, r, again, o)
}

// same checks that two sides do not differ.
func same(t *testing.T, left, right Side) {
	t.Helper()
	ctx := context.Background()
	for d, err := range Compare(ctx, FromStores(ctx, left, ExportOptions{}), FromStores(ctx, right, ExportOptions{}), DiffOptions{ExpiryTolerance: DefaultExpiryTolerance}) {
		t.Errorf("differs: %s", told(d, err))
	}
}

// counter is how many batches a store has applied.
func counter(t *testing.T, side Side) string {
	t.Helper()
	books, err := side.Opaque.Bookkeeping(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return books.Counter
}

func TestMixedRoundTrip(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		from, to := newSide(t, s, "from"), newSide(t, s, "to")
		fillMixed(t, from, 1600)
		text := archived(t, from, ExportOptions{Options: archive.Options{Tombstones: true}})
		if again := archived(t, from, ExportOptions{Options: archive.Options{Tombstones: true}}); records(again) != records(text) {
			t.Error("two exports of the same differ")
		}

		sum, err := imports(to, text, ReadOptions{ImportOptions: ImportOptions{DryRun: true}})
		const all = 1610 + 4 + 750
		if err != nil || sum.Created != all || sum.Unchanged != 1 || counter(t, to) != "" {
			t.Errorf("a dry run: %+v, %v", sum, err)
		}
		sum, err = imports(to, text, ReadOptions{ImportOptions: ImportOptions{Verify: true}})
		if err != nil || sum.Created != all || sum.Unchanged != 1 || sum.Done() != all+1 || sum.Differ > 0 || sum.NotUTF8 != 1 {
			t.Errorf("%+v, %v", sum, err)
		}
		same(t, from, to)
		books, err := to.Opaque.Bookkeeping(context.Background())
		if err != nil || books.Cleanup != 1 { // that of the row that expires
			t.Errorf("%+v, %v", books, err)
		}

		// Once more, nothing changes, whatever the policy.
		for _, policy := range Policies() {
			before := counter(t, to)
			sum, err = imports(to, text, ReadOptions{ImportOptions: ImportOptions{OnConflict: policy}})
			if err != nil || sum.Unchanged != all+1 || sum.Written() > 0 || counter(t, to) != before {
				t.Errorf("%s again: %+v, %v", policy, sum, err)
			}
		}
	})
}

// records are the lines of an archive that are records, without what is left of
// the life of blobs.
func records(text string) string {
	var kept []string
	for _, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, `{"kind":"row"`), strings.HasPrefix(line, `{"kind":"chunk"`):
			kept = append(kept, line)
		case strings.HasPrefix(line, `{"kind":"blob"`):
			kept = append(kept, line[:strings.Index(line, `"expires_at_ms"`)], line[strings.Index(line, `"value`):])
		}
	}
	return strings.Join(kept, "\n")
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		from := newSide(t, s, "from")
		write(t, from, opaque.Put("equal", "v", opaque.Never()), opaque.Put("new", "v", opaque.Never()),
			opaque.Put("other", "theirs", opaque.Never()), opaque.Put("gone", "v", opaque.Never()))
		write(t, from, opaque.Delete("gone"))
		put := func(side Side, reference, payload string) {
			if _, err := side.Blob.Put(ctx, reference, []byte(payload), 3_600_000); err != nil {
				t.Fatal(err)
			}
		}
		put(from, "equal", "v")
		create := func(side Side, chunk uint16, payload string) {
			if _, err := side.Warm.Create(ctx, warm.Segment{Name: "s"}, chunk, []byte(payload)); err != nil {
				t.Fatal(err)
			}
		}
		create(from, 1, "equal")
		create(from, 2, "theirs")
		text := archived(t, from, ExportOptions{Options: archive.Options{Tombstones: true}})
		for _, c := range []struct {
			policy Policy
			want   Summary
			other  string
		}{
			{Fail, Summary{}, "ours"},
			{Skip, Summary{Created: 1, Unchanged: 3, Skipped: 3}, "ours"},
			{Overwrite, Summary{Created: 1, Unchanged: 3, Replaced: 2, Deleted: 1}, "theirs"},
		} {
			to := newSide(t, s, "to-"+string(c.policy))
			write(t, to, opaque.Put("equal", "v", opaque.Never()), opaque.Put("other", "ours", opaque.Never()), opaque.Put("gone", "ours", opaque.Never()))
			put(to, "equal", "v")
			create(to, 1, "equal")
			create(to, 2, "ours")
			before := counter(t, to)

			dry, err := imports(to, text, ReadOptions{ImportOptions: ImportOptions{OnConflict: c.policy, DryRun: true}})
			want := c.want
			if c.policy == Fail {
				want = Summary{Created: 1, Unchanged: 3, Conflicts: 3}
			}
			if err != nil || counts(dry) != counts(want) || counter(t, to) != before {
				t.Errorf("%s, dry: %+v, %v", c.policy, dry, err)
			}
			sum, err := imports(to, text, ReadOptions{ImportOptions: ImportOptions{OnConflict: c.policy, Verify: true}})
			if failed := err != nil; failed != (c.policy == Fail) || counts(sum) != counts(c.want) {
				t.Errorf("%s: %+v, %v", c.policy, sum, err)
			}
			if c.policy == Fail && (!errors.Is(err, storeerr.Conflict) || !errors.As(err, new(*UntouchedError)) || counter(t, to) != before ||
				!strings.Contains(err.Error(), `3 of 7 records conflict, the first: key "gone" has another row`)) {
				t.Errorf("fail says %v", err)
			}
			_, readings, err := to.Opaque.Read(ctx, "other", "gone")
			if err != nil || readings[0].Row.Value != c.other || readings[1].Found != (c.policy != Overwrite) {
				t.Errorf("%s left %+v, %v", c.policy, readings, err)
			}
			chunk, err := to.Warm.Get(ctx, warm.Segment{Name: "s"}, 2)
			if err != nil || string(chunk.Payload) != c.other {
				t.Errorf("%s left %+v, %v", c.policy, chunk, err)
			}
		}
	})
}

// counts is a summary without what tells of time and place.
func counts(s Summary) Summary {
	s.Now, s.Line, s.FirstConflict = 0, 0, ""
	return s
}

// TestBlobsAreImmutable holds that a blob of other bytes stays, and one of the
// same bytes gets another expiry.
func TestBlobsAreImmutable(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		from, to := newSide(t, s, "from"), newSide(t, s, "to")
		put := func(side Side, payload string, retention int64) {
			if _, err := side.Blob.Put(ctx, "b", []byte(payload), retention); err != nil {
				t.Fatal(err)
			}
		}
		put(from, "bytes", 3_600_000)
		text := archived(t, from, ExportOptions{})
		put(to, "other", 7_200_000)
		if sum, err := imports(to, text, ReadOptions{ImportOptions: ImportOptions{OnConflict: Overwrite}}); !errors.Is(err, storeerr.Conflict) || sum.Written() > 0 ||
			!strings.Contains(storeerr.HintOf(err), "never overwritten") {
			t.Errorf("%+v, %v", sum, err)
		}
		if sum, err := imports(to, text, ReadOptions{ImportOptions: ImportOptions{OnConflict: Skip}}); err != nil || sum.Skipped != 1 {
			t.Errorf("%+v, %v", sum, err)
		}
		if got, err := to.Blob.Read(ctx, "b"); err != nil || string(got.Payload) != "other" {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := to.Blob.Delete(ctx, "b"); err != nil {
			t.Fatal(err)
		}
		put(to, "bytes", 7_200_000)
		if _, err := imports(to, text, ReadOptions{}); !errors.Is(err, storeerr.Conflict) {
			t.Errorf("another expiry: %v", err)
		}
		if sum, err := imports(to, text, ReadOptions{ImportOptions: ImportOptions{OnConflict: Overwrite}}); err != nil || sum.Replaced != 1 {
			t.Errorf("%+v, %v", sum, err)
		}
		same(t, from, to)
		// One without an expiry cannot be written without a retention.
		if err := from.rdb.Persist(ctx, from.Blob.Key("b")).Err(); err != nil {
			t.Fatal(err)
		}
		text = archived(t, from, ExportOptions{})
		fresh := newSide(t, s, "fresh")
		if _, err := imports(fresh, text, ReadOptions{}); !errors.As(err, new(*archive.BadLine)) {
			t.Errorf("no expiry: %v", err)
		}
		if sum, err := imports(fresh, text, ReadOptions{ImportOptions: ImportOptions{Retention: time.Hour, Verify: true}}); err != nil || sum.Created != 1 {
			t.Errorf("%+v, %v", sum, err)
		}
	})
}

func TestExpiries(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		to := newSide(t, s, "to")
		now, err := to.now(ctx)
		if err != nil {
			t.Fatal(err)
		}
		text := lines(t,
			row("lasting", "v", 0).Record, row("over", "v", 1).Record, row("soon", "v", now+3_600_000).Record,
			archive.Record{Kind: archive.Blob, Key: "over", ExpiresAt: 1}, archive.Record{Kind: archive.Blob, Key: "soon", ExpiresAt: now + 3_600_000})
		sum, err := imports(to, text, ReadOptions{})
		if err != nil || sum.Created != 3 || sum.Expired != 2 || sum.Done() != 5 {
			t.Errorf("%+v, %v", sum, err)
		}
		_, readings, err := to.Opaque.Read(ctx, "lasting", "over", "soon")
		if err != nil || readings[0].Row.ExpiresAt != 0 || readings[1].Found || readings[2].Row.ExpiresAt != now+3_600_000 {
			t.Errorf("%+v, %v", readings, err)
		}
		got, err := to.Blob.Read(ctx, "soon")
		if err != nil || max(got.ExpiresAt-now, now-got.ExpiresAt) > 3_660_000 || got.ExpiresAt < now+3_540_000 {
			t.Errorf("%+v, %v", got, err)
		}
		// A retention gives all of them another life, once.
		to = newSide(t, s, "retention")
		for _, want := range []Summary{{Created: 5}, {Unchanged: 5}} {
			sum, err = imports(to, text, ReadOptions{ImportOptions: ImportOptions{Retention: time.Hour, Verify: true}})
			if err != nil || counts(sum) != want {
				t.Errorf("%+v, %v, want %+v", sum, err, want)
			}
		}
		if _, readings, err = to.Opaque.Read(ctx, "lasting"); err != nil || readings[0].Row.ExpiresAt <= now {
			t.Errorf("%+v, %v", readings, err)
		}
		if _, err = imports(to, lines(t, row("late", "v", opaque.MaxExpiry+1).Record), ReadOptions{}); !errors.As(err, new(*archive.BadLine)) {
			t.Errorf("past the year 9999: %v", err)
		}
	})
}

// lines returns an archive of records.
func lines(t *testing.T, records ...archive.Record) string {
	t.Helper()
	return linesOf(t, archive.Header{Prefix: "app", Stores: Stores()}, records...)
}

func linesOf(t *testing.T, h archive.Header, records ...archive.Record) string {
	t.Helper()
	var out bytes.Buffer
	w := archive.NewWriter(&out, h)
	for i := range records {
		if err := w.Write(&records[i]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.End(0); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestMapped(t *testing.T) {
	t.Parallel()
	maps := []Mapping{{"a/", "x/"}, {"a/b/", "y/"}, {"gone/", ""}, {"", "all/"}}
	for key, want := range map[string]string{"a/1": "x/1", "a/b/1": "y/1", "gone/1": "1", "other": "all/other", "a": "all/a", "": "all/"} {
		if got := mapped(key, maps); got != want {
			t.Errorf("%q becomes %q, want %q", key, got, want)
		}
	}
	if got := mapped("b", maps[:3]); got != "b" {
		t.Errorf("b becomes %q", got)
	}
}

func TestMappingOfAllStores(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		to := newSide(t, s, "to")
		chunk := chunkItem("", "users", 1, "token-1").Record
		text := lines(t, row("a/1", "v", 0).Record, archive.Record{Kind: archive.Blob, Key: "a/2", ExpiresAt: 1 << 42}, chunk)
		o := ImportOptions{Map: []Mapping{{"a/", "b/"}}, Segments: []Mapping{{"users", "people"}}, KeepTokens: true, Verify: true}
		sum, err := imports(to, text, ReadOptions{ImportOptions: o})
		if err != nil || sum.Created != 3 {
			t.Errorf("%+v, %v", sum, err)
		}
		if _, r, err := to.Opaque.Read(ctx, "a/1", "b/1"); err != nil || r[0].Found || !r[1].Found {
			t.Errorf("%+v, %v", r, err)
		}
		if _, err := to.Blob.Read(ctx, "b/2"); err != nil {
			t.Error(err)
		}
		if got, err := to.Warm.Get(ctx, warm.Segment{Name: "people"}, 1); err != nil || got.Token != "token-1" {
			t.Errorf("%+v, %v", got, err)
		}
		// A mapping that leaves no key is a bad line.
		o = ImportOptions{Map: []Mapping{{"a/1", ""}}}
		if _, err = imports(to, text, ReadOptions{ImportOptions: o}); !errors.As(err, new(*archive.BadLine)) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%v", err)
		}
	})
}

// TestStops holds that an import which stops has done what its summary says.
func TestStops(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		bad := &archive.BadLine{Line: 1700, Reason: errors.New("bad")}
		records := func(yield func(archive.Record, error) bool) {
			for i := range 3000 {
				if i == 1700 {
					if !yield(archive.Record{}, storeerr.New(storeerr.Integrity, "%w", bad)) {
						return
					}
					continue
				}
				if !yield(row(fmt.Sprintf("%05d", i), "v", 0).Record, nil) {
					return
				}
			}
		}
		to := newSide(t, s, "stop")
		sum, err := Import(ctx, to, records, ImportOptions{})
		if !errors.As(err, &bad) || sum.Created != 1700 || sum.Line != 1700 || rowsOf(t, to) != 1700 {
			t.Errorf("%+v, %v", sum, err)
		}
		var toldOf []error
		sum, err = Import(ctx, to, records, ImportOptions{KeepGoing: true, Told: func(err error) { toldOf = append(toldOf, err) }})
		if err != nil || sum.Created != 1299 || sum.Unchanged != 1700 || sum.LeftOut != 1 || len(toldOf) != 1 || rowsOf(t, to) != 2999 {
			t.Errorf("%+v, %v, told %v", sum, err, toldOf)
		}

		// A conflict in the third batch, found on the way.
		to = newSide(t, s, "conflict")
		write(t, to, opaque.Put("01234", "ours", opaque.Never()))
		sum, err = Import(ctx, to, onlyRows(3000), ImportOptions{})
		if !errors.Is(err, storeerr.Conflict) || sum.Line != 1000 || sum.Created+1 != rowsOf(t, to) || sum.Created < 1000 || sum.Created > 2500 {
			t.Errorf("%+v, %v, %d rows", sum, err, rowsOf(t, to))
		}
		sum, err = Import(ctx, to, onlyRows(3000), ImportOptions{OnConflict: Skip})
		if err != nil || sum.Skipped != 1 || rowsOf(t, to) != 3000 {
			t.Errorf("%+v, %v", sum, err)
		}

		// Cancelled midway.
		to = newSide(t, s, "cancelled")
		cancelled, cancel := context.WithCancel(ctx)
		sum, err = Import(cancelled, to, onlyRows(10000), ImportOptions{Progress: func(s Summary) {
			if s.Created >= 2000 {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) || sum.Created != rowsOf(t, to) || sum.Line != sum.Created || sum.Created == 10000 {
			t.Errorf("%+v, %v, %d rows", sum, err, rowsOf(t, to))
		}
	})
}

func onlyRows(n int) iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		for i := range n {
			if !yield(row(fmt.Sprintf("%05d", i), "v", 0).Record, nil) {
				return
			}
		}
	}
}

func rowsOf(t *testing.T, side Side) (rows int64) {
	t.Helper()
	for _, err := range side.Opaque.Scan(context.Background(), opaque.ScanOptions{Live: true}) {
		if err != nil {
			t.Fatal(err)
		}
		rows++
	}
	return rows
}

// TestDamagedPlaces holds that damage at the destination is refused, or passed
// over and told, and that nothing else suffers.
func TestDamagedPlaces(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		to := newSide(t, s, "to")
		keys := to.Opaque.Keys()
		for _, key := range []string{"00002", "00004"} {
			if err := to.rdb.Set(ctx, keys.Row(key), "foreign", 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		if sum, err := Import(ctx, to, onlyRows(10), ImportOptions{}); !errors.Is(err, storeerr.Integrity) || sum.Written() > 0 {
			t.Errorf("%+v, %v", sum, err)
		}
		told := 0
		sum, err := Import(ctx, to, onlyRows(10), ImportOptions{KeepGoing: true, Told: func(error) { told++ }})
		if err != nil || sum.Created != 8 || sum.LeftOut != 2 || told != 2 {
			t.Errorf("%+v, %v", sum, err)
		}
	})
}

// TestDoubled holds that a key that comes twice in one batch breaks nothing.
func TestDoubled(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		to := newSide(t, s, "to")
		double := stream(row("a", "1", 0), row("a", "1", 0), row("b", "1", 0))
		if sum, err := Import(context.Background(), to, double, ImportOptions{}); err != nil || sum.Created != 2 || sum.Unchanged != 1 {
			t.Errorf("%+v, %v", sum, err)
		}
		if _, err := Import(context.Background(), to, stream(row("c", "1", 0), row("c", "2", 0)), ImportOptions{}); !errors.Is(err, storeerr.Conflict) {
			t.Errorf("two rows of one key: %v", err)
		}
	})
}

func TestRefusedArchives(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		text := lines(t, row("a", "1", 0).Record, row("b", "1", 0).Record, row("c", "1", 0).Record)
		altered := strings.Replace(text, `"key":"b"`, `"key":"bb"`, 1)
		cut := text[:strings.Index(text, `"key":"c"`)]
		bad := strings.Replace(text, `"key":"b"`, `"kex":"b"`, 1)
		for name, c := range map[string]struct {
			text    string
			partial int64 // rows that come with Partial
			going   int64 // rows that come with KeepGoing, -1 for none
		}{
			"altered": {altered, 3, -1}, "cut": {cut, 2, -1}, "bad": {bad, 1, 2},
		} {
			to := newSide(t, s, name)
			sum, err := imports(to, c.text, ReadOptions{})
			if !errors.Is(err, storeerr.Integrity) || !errors.As(err, new(*UntouchedError)) || sum.Written() > 0 || counter(t, to) != "" {
				t.Errorf("%s: %+v, %v", name, sum, err)
			}
			if sum, err = imports(to, c.text, ReadOptions{Partial: true}); err == nil || sum.Created != c.partial || rowsOf(t, to) != c.partial {
				t.Errorf("%s, partial: %+v, %v", name, sum, err)
			}
			to = newSide(t, s, name+"-going")
			sum, err = imports(to, c.text, ReadOptions{ImportOptions: ImportOptions{KeepGoing: true}})
			if c.going < 0 && (err == nil || sum.Written() > 0) || c.going > 0 && (err != nil || sum.Created != c.going || sum.LeftOut != 1) {
				t.Errorf("%s, going on: %+v, %v", name, sum, err)
			}
			// Through a pipe, what stands before is written.
			to = newSide(t, s, name+"-pipe")
			pipe, err := archive.NewReader(strings.NewReader(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if sum, err = ReadArchive(context.Background(), to, pipe, nil, ReadOptions{}); err == nil || sum.Created != c.partial || sum.Line != c.partial+1 {
				t.Errorf("%s, pipe: %+v, %v", name, sum, err)
			}
		}
	})
}

func TestSides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		prefix string
		stores []string
		want   string
	}{
		{"app", nil, "opaque,blob,warm"}, {"a:b", nil, "opaque,blob"}, {"", nil, "warm"}, {"app", []string{Blob}, "blob"},
		{"a:b", []string{Warm}, ""}, {"", []string{Opaque}, ""}, {"a{", nil, ""}, {"app", []string{"none"}, ""},
	} {
		side, err := NewSide(nil, c.prefix, c.stores...)
		if got := strings.Join(side.Stores(), ","); got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%q, %v: %q, %v, want %q", c.prefix, c.stores, got, err, c.want)
		}
	}
}
