package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/inspect"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// places is what the places of a holding hold, those that disagree with what
// they should.
func places(h inspect.Holding) string {
	var parts []string
	for _, p := range h.Places {
		part := p.Name + ": " + p.Holds
		if p.Expected != "" {
			part += " (expected " + p.Expected + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

func TestLogical(t *testing.T) {
	t.Parallel()
	keys, err := opaque.NewKeys(prefix)
	if err != nil {
		t.Fatal(err)
	}
	row := keys.Row("k")
	put := func(f fixture) { f.write(opaque.Put("k", "1", opaque.Never())) }
	deleted := func(f fixture) {
		put(f)
		f.snapshot()
		f.write(opaque.Delete("k"))
	}
	const year2100 = 4102444800000
	leased := func(f fixture) { f.write(opaque.Put("k", "1", opaque.At(year2100))) }
	for name, c := range map[string]struct {
		prepare func(f fixture)
		want    string // … stands for a moment
	}{
		"nothing": {func(fixture) {}, "row: nothing; index: nothing; map: nothing; cleanup: nothing; sequence: nothing"},
		"lasting": {put, "row: 1 version, live; index: the key; map: the key of the row; cleanup: nothing; sequence: 1"},
		"leased":  {leased, "row: 1 version, live; index: the key; map: the key of the row; cleanup: due at 2100-01-01T00:01:00.000Z; sequence: 1"},
		"deleted": {deleted, "row: 2 versions, the newest tombstone; index: the key; map: the key of the row; cleanup: due at …; sequence: 2"},
		"expired": {func(f fixture) { f.write(opaque.Put("k", "1", opaque.At(1))) },
			"row: 1 version, expired; index: the key; map: the key of the row; cleanup: due at …; sequence: 1"},

		"orphaned row": {func(f fixture) { put(f); f.do("DEL", keys.Index(), keys.Map()) },
			"row: 1 version, live; index: nothing (expected the key); map: nothing (expected " + row + "); cleanup: nothing; sequence: 1"},
		"entries for nothing": {func(f fixture) { put(f); f.do("ZADD", keys.Cleanup(), 5, "k"); f.do("DEL", row) },
			"row: nothing; index: the key (expected nothing); map: " + row + " (expected nothing); cleanup: due at … (expected nothing); sequence: 1"},
		"cleanup for nothing": {func(f fixture) { put(f); f.do("ZADD", keys.Cleanup(), 5, "k") },
			"row: 1 version, live; index: the key; map: the key of the row; cleanup: due at … (expected nothing); sequence: 1"},
		"no cleanup": {func(f fixture) { deleted(f); f.do("DEL", keys.Cleanup()) },
			"row: 2 versions, the newest tombstone; index: the key; map: the key of the row; cleanup: nothing (expected due at … or before); sequence: 2"},
		"late cleanup": {func(f fixture) { leased(f); f.do("ZADD", keys.Cleanup(), year2100+60_001, "k") },
			"row: 1 version, live; index: the key; map: the key of the row; cleanup: due at … (expected due at 2100-01-01T00:01:00.000Z or before); sequence: 1"},
		"another row, another score": {func(f fixture) { put(f); f.do("HSET", keys.Map(), "k", "x"); f.do("ZADD", keys.Index(), 3, "k") },
			"row: 1 version, live; index: the key, at score 3 (expected the key, at score 0); map: x (expected " + row + "); cleanup: nothing; sequence: 1"},
		"counter behind": {func(f fixture) { put(f); f.do("SET", keys.Sequence(), 0) },
			"row: 1 version, live; index: the key; map: the key of the row; cleanup: nothing; sequence: 0 (expected a number of at least 1)"},
		"no counter": {func(f fixture) { put(f); f.do("DEL", keys.Sequence()) },
			"row: 1 version, live; index: the key; map: the key of the row; cleanup: nothing; sequence: nothing (expected a number of at least 1)"},
		"undecodable": {func(f fixture) { put(f); f.do("ZADD", row, 1, "\x02"); f.do("ZADD", keys.Cleanup(), 5, "k") },
			"row: 2 versions, the newest damaged (expected a newest version that decodes); index: the key; map: the key of the row; cleanup: due at …; sequence: 1"},
		"another key's": {func(f fixture) {
			put(f)
			f.do("DEL", row)
			f.do("ZADD", row, 1, string(opaque.Member{Key: "x", Version: "2"}.Append(nil)))
		}, "row: 1 version, damaged (expected a newest version of its own key); index: the key; map: the key of the row; cleanup: nothing; sequence: 1"},
		"types": {func(f fixture) {
			for _, key := range []string{row, keys.Index(), keys.Map(), keys.Cleanup()} {
				f.do("SET", key, "x")
			}
			f.do("HSET", keys.Sequence(), "x", "y")
		}, "row: a key of type string (expected a sorted set); index: a key of another type (expected the key); map: a key of another type (expected " + row +
			"); cleanup: a key of another type (expected a sorted set); sequence: a key of another type (expected a number)"},
		"with a time to live": {func(f fixture) { put(f); f.do("EXPIRE", row, 1000) },
			"row: 1 version, live, with a time to live (expected no time to live); index: the key; map: the key of the row; cleanup: nothing; sequence: 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := testserver.Embedded(t)
			f := newFixture(t, s)
			c.prepare(f)
			h, err := inspect.Logical(context.Background(), f.rdb, prefix, "k", inspect.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := moments(places(h), c.want)
			if got != c.want {
				t.Errorf("holds %s\nwant  %s", got, c.want)
			}
			if h.Found != (name != "nothing") || (len(h.Disagreements()) > 0) != strings.Contains(c.want, "expected") {
				t.Errorf("found %v, disagreements %v", h.Found, h.Disagreements())
			}
		})
	}
}

// moments puts … in place of the moments in got that want leaves open.
func moments(got, want string) string {
	words := strings.Fields(got)
	for i, w := range strings.Fields(want) {
		if i < len(words) && strings.HasPrefix(w, "…") {
			if _, err := time.Parse("2006-01-02T15:04:05.000Z", strings.TrimRight(words[i], ";)")); err == nil {
				words[i] = w
			}
		}
	}
	return strings.Join(words, " ")
}

// A store of many keys agrees on each of them, whatever was done to it.
func TestLogicalOnServers(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newFixture(t, s)
		for i := range 3 {
			f.write(opaque.Put("a", fmt.Sprint(i), opaque.After(time.Hour)), opaque.Put("b", "", opaque.Never()), opaque.Put("c\x00", "", opaque.At(1)))
			f.snapshot()
		}
		f.write(opaque.Delete("b"))
		for _, key := range []string{"a", "b", "c\x00"} {
			h, err := inspect.Logical(context.Background(), f.rdb, prefix, key, inspect.Options{})
			if err != nil || len(h.Disagreements()) > 0 || len(h.Row.Versions) < 3 {
				t.Errorf("%q: %s, %d versions, %v", key, places(h), len(h.Row.Versions), err)
			}
		}
	})
}

func TestLogicalRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{{"", "k"}, {"a{b", "k"}, {"app", ""}, {"app", strings.Repeat("k", 1025)}} {
		if _, err := inspect.Logical(context.Background(), nil, c[0], c[1], inspect.Options{}); !errors.Is(err, storeerr.Invalid) {
			t.Errorf("%.20q: %v", c, err)
		}
	}
}
