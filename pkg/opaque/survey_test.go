package opaque

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func TestSurvey(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		f := newFixture(t, s)
		f.put(t, "a/lasting", "v")
		now := f.put(t, "a/written", "1").Now
		if _, err := f.OpenSnapshot(ctx, ""); err != nil {
			t.Fatal(err)
		}
		f.put(t, "a/written", "22")
		f.put(t, "a/deleted", "v")
		f.delete(t, "a/deleted")
		f.write(t, Batch{Mutations: []Mutation{Put("a/expired", "v", At(now-1)), Put("b", "v", After(time.Hour))}})
		f.put(t, "a/undecodable", "v")
		f.do(t, "ZADD", f.keys.Row("a/undecodable"), 1e9, "\x02")
		f.do(t, "SET", f.keys.Row("a/string"), "x")
		f.do(t, "ZADD", f.keys.Index(), 0, "a/gone", 0, "a/string")
		before := f.dump(t)

		var found []string
		for row, err := range f.Survey(ctx, SurveyOptions{Prefix: "a/", PageSize: 3}) {
			if err != nil && !errors.As(err, new(*DamagedRow)) {
				t.Fatal(err)
			}
			if row.Now < now {
				t.Errorf("%s was looked at at %d, before %d", row.Key, row.Now, now)
			}
			found = append(found, fmt.Sprintf("%s %d versions, newest %v %q live %v, damaged %v",
				row.Key, row.Versions, row.Score, row.Newest.Value, row.Live(), err != nil))
		}
		want := []string{
			`a/deleted 2 versions, newest 5 "" live false, damaged false`,
			`a/expired 1 versions, newest 6 "v" live false, damaged false`,
			`a/gone 0 versions, newest 0 "" live false, damaged false`,
			`a/lasting 1 versions, newest 1 "v" live true, damaged false`,
			`a/string 0 versions, newest 0 "" live false, damaged true`,
			`a/undecodable 2 versions, newest 1e+09 "" live false, damaged true`,
			`a/written 2 versions, newest 3 "22" live true, damaged false`,
		}
		if !slices.Equal(found, want) {
			t.Errorf("found\n%q\nwant\n%q", found, want)
		}
		if after := f.dump(t); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Error("the survey changed something")
		}
	})
}

// Values that fill a page many times over come in several replies.
func TestSurveyOfLargeRows(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		value := string(make([]byte, MaxValueBytes))
		for i := range 10 {
			f.put(t, fmt.Sprint(i), value)
		}
		rows := 0
		for row, err := range f.Survey(context.Background(), SurveyOptions{}) {
			if err != nil || row.Key != fmt.Sprint(rows) || row.Newest.Value != value {
				t.Fatalf("row %d is %q of %d bytes, %v", rows, row.Key, len(row.Newest.Value), err)
			}
			rows++
		}
		if rows != 10 {
			t.Errorf("%d rows", rows)
		}
	})
}

func TestSurveyEnds(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		for i := range 5 {
			f.put(t, fmt.Sprint(i), "v")
		}
		for range f.Survey(context.Background(), SurveyOptions{PageSize: 2}) {
			break
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var last error
		for _, err := range f.Survey(ctx, SurveyOptions{PageSize: 2}) {
			cancel()
			last = err
		}
		if !errors.Is(last, context.Canceled) {
			t.Errorf("after a cancellation: %v", last)
		}
		f.do(t, "DEL", f.keys.Index())
		f.do(t, "SET", f.keys.Index(), "x")
		last = nil
		for _, err := range f.Survey(context.Background(), SurveyOptions{}) {
			last = err
		}
		if !errors.Is(last, storeerr.Integrity) || errors.As(last, new(*DamagedRow)) {
			t.Errorf("of an index that is a string: %v", last)
		}
	})
}

func TestBookkeeping(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		f := newFixture(t, s)
		got, err := f.Bookkeeping(ctx)
		if err != nil || got.Exists() || got.Now == 0 {
			t.Errorf("of nothing: %+v, %v", got, err)
		}
		now := f.put(t, "a", "v").Now
		f.put(t, "b", "v")
		f.delete(t, "b")
		f.do(t, "ZADD", f.keys.Cleanup(), now-7000, "a", now-5000, "b", now+1e9, "c")
		got, err = f.Bookkeeping(ctx)
		want := Bookkeeping{Now: got.Now, Counter: "3", Keys: 2, Cleanup: 3, Due: 2, OldestDue: now - 7000}
		if err != nil || got != want || got.Now < now || !got.Exists() {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
		f.do(t, "DEL", f.keys.Cleanup())
		f.do(t, "SET", f.keys.Cleanup(), "x")
		if _, err = f.Bookkeeping(ctx); !errors.Is(err, storeerr.Integrity) {
			t.Errorf("of a queue that is a string: %v", err)
		}
	})
}
