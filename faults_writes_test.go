// The writes that are run on a failing network, and what is true of them.

package main_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// faultyWrite is a command that writes. Its condition is true before, so that
// a conflict could only come from its own success.
type faultyWrite struct {
	name  string
	input string
	// prepare makes the state before, and returns the token that there is.
	prepare func(t *testing.T, s *stores) (token string)
	args    func(token string) []string
	// applied returns how often the write was applied, and the version or
	// token that it brought.
	applied func(t *testing.T, s *stores, token string) (times int, mark string)
}

// judge holds the exit status against the state.
func (w faultyWrite) judge(t *testing.T, s *stores, token string, script faultScript, r ran) {
	t.Helper()
	times, mark := w.applied(t, s, token)
	var wrong string
	switch {
	case times > 1:
		wrong = "was applied twice"
	case r.status == 0 && times == 0:
		wrong = "is reported done and was not"
	case r.status == 0 && !strings.Contains(r.out, mark):
		wrong = "does not print what is there: " + mark
	case r.status == 8 && times > 0:
		wrong = "is reported as not sent, and was applied"
	case r.status == 9 && !strings.Contains(r.errors, "may have been applied"):
		wrong = "does not say that it may have been applied"
	case r.status != 0 && r.status != 8 && r.status != 9:
		wrong = "ends with a status of its own"
	}
	if wrong != "" {
		t.Errorf("%s, %v: %s (applied %d times): %+v", w.name, script, wrong, times, r)
	}
}

func faultyWrites() []faultyWrite {
	words := func(line string) func(string) []string {
		return func(token string) []string {
			return strings.Fields(strings.ReplaceAll(line, "TOKEN", token))
		}
	}
	const conditions = `"conditions":[{"kind":"missing","key":"n"},{"kind":"version","key":"k","version":"1"}],`
	const mutations = `"mutations":[{"kind":"put","key":"n","value":"new"},{"kind":"put","key":"k","value":"new"}]`
	return []faultyWrite{
		{"put", "", prepareRow, words("put k new"), countVersions("new")},
		{"put --if-version", "", prepareRow, words("put k new --if-version 1"), countVersions("new")},
		{"put --if-missing", "", prepareOther, words("put k new --if-missing"), countVersions("new")},
		{"txn", "{" + mutations + "}", prepareRow, words("txn"), countVersions("new")},
		{"txn with conditions", "{" + conditions + mutations + "}", prepareRow, words("txn"), countVersions("new")},
		{"delete", "", prepareRow, words("delete k"), countVersions("")},
		{"delete --if-version", "", prepareRow, words("delete k --if-version 1"), countVersions("")},
		{"blob put", "payload", prepareNothing, words("blob put b --retention 1h"), countBlobs},
		{"warm cas --create", "", prepareNothing, words("warm cas s 7 new --create"), countChunks(warm.Created)},
		{"warm cas --expect", "", prepareChunk, words("warm cas s 7 new --expect TOKEN"), countChunks(warm.Updated)},
		{"warm delete", "", prepareChunk, words("warm delete s 7 --expect TOKEN"), countChunks(warm.Deleted)},
	}
}

func prepareNothing(*testing.T, *stores) string { return "" }

// prepareRow puts the key k, with version 1.
func prepareRow(t *testing.T, s *stores) string { return prepareKey(t, s, "k") }

// prepareOther puts another key, so that the store is not a new one.
func prepareOther(t *testing.T, s *stores) string { return prepareKey(t, s, "other") }

func prepareKey(t *testing.T, s *stores, key string) string {
	t.Helper()
	_, err := s.opaque.Write(t.Context(), opaque.Batch{Mutations: []opaque.Mutation{opaque.Put(key, "old", opaque.Never())}})
	noError(t, err)
	return ""
}

// prepareChunk creates the chunk 7 of the segment s.
func prepareChunk(t *testing.T, s *stores) string {
	t.Helper()
	created, err := s.warm.Create(t.Context(), warm.Segment{Name: "s"}, 7, []byte("old"))
	noError(t, err)
	return created.Token
}

// countVersions counts by the store's counter, which was 1 before, and holds
// the row against it: a value, or none at all.
func countVersions(value string) func(*testing.T, *stores, string) (int, string) {
	return func(t *testing.T, s *stores, _ string) (int, string) {
		t.Helper()
		counter, err := s.rdb.Get(t.Context(), s.opaque.Keys().Sequence()).Int()
		noError(t, err)
		_, readings, err := s.opaque.Read(t.Context(), "k")
		noError(t, err)
		row, found := readings[0].Row, readings[0].Found
		if counter == 1 {
			if found && row.Value != "old" {
				t.Errorf("the row is %q, and no version was given", row.Value)
			}
			return 0, ""
		}
		if found != (value != "") || row.Value != value {
			t.Errorf("the row is %q, %v, want %q", row.Value, found, value)
		}
		return counter - 1, row.Version
	}
}

func countBlobs(t *testing.T, s *stores, _ string) (int, string) {
	t.Helper()
	found, err := s.blob.Read(t.Context(), "b")
	if errors.Is(err, storeerr.NotFound) {
		return 0, ""
	}
	noError(t, err)
	if string(found.Payload) != "payload" {
		t.Errorf("the blob is %q", found.Payload)
	}
	return 1, "stored"
}

// countChunks tells by the chunk and its token whether a write was applied.
func countChunks(outcome warm.Outcome) func(*testing.T, *stores, string) (int, string) {
	return func(t *testing.T, s *stores, token string) (int, string) {
		t.Helper()
		chunk, err := s.warm.Get(t.Context(), warm.Segment{Name: "s"}, 7)
		switch {
		case errors.Is(err, storeerr.NotFound) && outcome == warm.Deleted:
			return 1, string(outcome)
		case errors.Is(err, storeerr.NotFound) && outcome == warm.Created:
			return 0, ""
		}
		noError(t, err)
		if chunk.Token == token {
			return 0, ""
		}
		if string(chunk.Payload) != "new" {
			t.Errorf("the chunk holds %q", chunk.Payload)
		}
		return 1, chunk.Token
	}
}

// TestManyPutsOnAFailingNetwork holds that what a bulk put says of the lines that
// are done is what there is, and that one whose answer was lost is unknown.
func TestManyPutsOnAFailingNetwork(t *testing.T) {
	t.Parallel()
	server := testserver.Real(t)
	const rows = 1200
	var lines strings.Builder
	for i := range rows {
		fmt.Fprintf(&lines, "{\"key\":\"%04d\",\"value\":\"x\"}\n", i)
	}
	rdb := server.Client(t)
	try := func(script faultScript) [2]int64 {
		s := openStores(t, rdb, server.Prefix(t))
		r, carried := s.behind(t, server, script, lines.String(), []string{"put", "--from-ndjson", "-"})
		keys, err := opaque.NewKeys(s.prefix)
		noError(t, err)
		there := int(rdb.ZCard(t.Context(), keys.Index()).Val())
		var done int
		_, said, _ := strings.Cut(r.errors, "up to line ")
		_, _ = fmt.Sscan(said, &done)
		var wrong bool
		switch r.status {
		case 0:
			wrong = there != rows
		case 8:
			wrong = there != 0
		case 9:
			wrong = there < done || there > done+500 || !strings.Contains(r.errors, "may have been applied")
		case 10:
			wrong = there != done || done == 0
		default:
			wrong = true
		}
		if wrong {
			t.Errorf("%v: %d rows are there: %+v", script, there, r)
		}
		return carried
	}
	many := 16
	if testing.Short() {
		many = 8
	}
	eachFault(faultScripts(try(faultless), many), func(script faultScript) { try(script) })
}
