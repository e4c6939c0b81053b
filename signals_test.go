//go:build unix

// Ctrl-C and SIGTERM: the status, and that nothing is left behind.

package main_test

import (
	"bytes"
	"os"
	handling "os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
)

func TestSignalsEndScan(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		store := fill(t, s, 2000)
		for signal, want := range map[syscall.Signal]struct {
			status int
			says   string
		}{
			syscall.SIGINT:  {130, "error: interrupted\n"},
			syscall.SIGTERM: {143, "error: terminated\n"},
			syscall.SIGHUP:  {143, "error: terminated\n"},
		} {
			if handling.Ignored(signal) {
				t.Logf("%v is ignored here, as under nohup", signal)
				continue
			}
			// Nobody reads on, so that the scan is stuck in the pipe.
			p := start(t, s.URL, "scan", "--page-size", "100")
			if line := p.line(); !strings.HasPrefix(line, "key/000000\t") {
				t.Errorf("first line %q", line)
			}
			p.signal(signal)
			p.ends(want.status)
			p.says(want.says)
			noSnapshots(t, store)
		}
	})
}

// TestSignalBesideHungServer has a server that takes a command and never
// answers: at once, or behind the handshake.
func TestSignalBesideHungServer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers int
		args    []string
		says    string
	}{
		"read, at the handshake": {0, []string{"read", "k"}, "error: interrupted\n"},
		"put, at the handshake":  {0, []string{"put", "k", "v"}, "error: interrupted\n"},
		"read":                   {1, []string{"read", "k"}, "error: interrupted\n"},
		"scan":                   {1, []string{"scan"}, ""},
		"put":                    {1, []string{"put", "k", "v"}, "may have been applied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, hangs := hungServer(t, test.answers)
			p := start(t, url, append(test.args, "--timeout", "1h")...)
			<-hangs
			p.signal(os.Interrupt)
			p.ends(130)
			if !strings.Contains(p.stderr.String(), test.says) {
				t.Errorf("it said %q, want %q", p.stderr.String(), test.says)
			}
		})
	}
}

// TestSignalEndsWatching has stats count until it is told to stop.
func TestSignalEndsWatching(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		fill(t, s, 10)
		p := start(t, s.URL, "stats", "--watch", "1ms", "-o", "ndjson", "--columns", "opaque")
		for range 3 {
			if line := p.line(); !strings.Contains(line, `"rows":{"live":10,`) {
				t.Errorf("it prints %q", line)
			}
		}
		p.signal(os.Interrupt)
		p.ends(130)
		p.says(`{"code":130,"kind":"interrupted","message":"interrupted","hint":null}` + "\n")
	})
}

func TestSignalWhileReadingInput(t *testing.T) {
	t.Parallel()
	s := testserver.Embedded(t)
	p := start(t, s.URL, "put", "k")
	// A pipe holds less than this, so that it is being read when all is written.
	if _, err := p.stdin.Write(bytes.Repeat([]byte("v"), 200<<10)); err != nil {
		t.Fatal(err)
	}
	p.signal(os.Interrupt)
	p.ends(130)
	p.says("error: interrupted\n")
	if n := s.Client(t).DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("%d keys were written", n)
	}
}

func TestSignalsEndSandbox(t *testing.T) {
	t.Parallel()
	for signal, status := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		dir := t.TempDir()
		p := start(t, "", "sandbox", "--data", filepath.Join(dir, "data"))
		p.line()
		if line := p.line(); !strings.HasPrefix(line, "export KEYSPACECTL_URL=redis://127.0.0.1:") {
			t.Errorf("second line %q", line)
		}
		p.signal(signal)
		p.ends(status)
		p.says("")
		if names := files(t, dir); len(names) != 2 || names[0] != "data" || names[1] != "data.lock" {
			t.Errorf("files %q, want the data and its lock", names)
		}
	}
}

// TestSandboxPassesSignals runs a sandbox inside a sandbox: the inner one
// ends by the signal that the outer one gets, and the outer one with its status.
func TestSandboxPassesSignals(t *testing.T) {
	t.Parallel()
	for signal, status := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		p := start(t, "", "sandbox", "--", "keyspacectl", "sandbox", "-o", "json")
		if line := p.line(); !strings.Contains(line, `"prefix":"app"`) {
			t.Errorf("first line %q", line)
		}
		p.signal(signal)
		p.ends(status)
		p.says("")
	}
}
