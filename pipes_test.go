// Readers that go away, output of many rows, and a shell that waits.

package main_test

import (
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
)

func TestReaderGoesAway(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		store := fill(t, s, 4000)
		for _, format := range []string{"ndjson", "json", "tsv", "table", "yaml"} {
			client := s.Client(t)
			client.ConfigResetStat(t.Context())
			p := start(t, s.URL, "scan", "-o", format, "--page-size", "100")
			p.line()
			if err := p.stdout.Close(); err != nil {
				t.Fatal(err)
			}
			p.ends(0)
			p.says("")
			noSnapshots(t, store)
			if !s.Real {
				continue
			}
			// Of 40 pages, those in the pipe and the buffers were read.
			if calls := scriptCalls(t, client.Info(t.Context(), "commandstats").Val()); calls > 20 {
				t.Errorf("%s: %d scripts were run after the reader had left", format, calls)
			}
		}
	})
}

// scriptCalls is how many scripts the statistics of a server count.
func scriptCalls(t *testing.T, stats string) int {
	t.Helper()
	_, rest, found := strings.Cut(stats, "cmdstat_evalsha:calls=")
	number, _, _ := strings.Cut(rest, ",")
	calls, err := strconv.Atoi(number)
	if !found || err != nil {
		t.Fatalf("no calls of scripts in %q", stats)
	}
	return calls
}

func TestManyRowsThroughPipe(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t)
	store := fill(t, s, 5000)
	p := start(t, s.URL, "scan", "--keys-only")
	if err := p.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	output, err := io.ReadAll(p.lines)
	if err != nil {
		t.Fatal(err)
	}
	p.ends(0)
	p.says("")
	if lines := strings.Count(string(output), "\n"); lines != 5000 || !strings.HasSuffix(string(output), "key/004999\n") {
		t.Errorf("%d lines, want 5000", lines)
	}
	noSnapshots(t, store)
}

// TestCompletionBesideHungServer lets a server never answer: completion gives
// up by itself, whatever the timeout is.
func TestCompletionBesideHungServer(t *testing.T) {
	t.Parallel()
	for _, answers := range []int{0, 1} {
		url, hangs := hungServer(t, answers)
		p := start(t, url, "__complete", "--timeout", "1h", "read", "")
		<-hangs
		if line := p.line(); line != ":4" {
			t.Errorf("it completes to %q, want nothing", line)
		}
		p.ends(0)
	}
}
