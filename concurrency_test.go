// Many command lines at once that increment one number: no increment is lost,
// and nothing but conflicts stands in the way.

package main_test

import (
	"errors"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
)

// counter is a number in a store, and how commands work on it.
type counter struct {
	create []string
	read   []string
	write  func(value, seen string) []string // where seen is still the version or token
	run    func(args ...string) (string, int)
}

func TestConcurrentPuts(t *testing.T) {
	t.Parallel()
	countTogether(t, counter{
		create: []string{"put", "counter", "0", "--if-missing"},
		read:   []string{"read", "counter", "-o", "json"},
		write: func(value, version string) []string {
			return []string{"put", "counter", value, "--if-version", version}
		},
	})
}

func TestConcurrentCAS(t *testing.T) {
	t.Parallel()
	countTogether(t, counter{
		create: []string{"warm", "cas", "users", "7", "0", "--create"},
		read:   []string{"warm", "read", "users", "7", "-o", "json"},
		write: func(value, token string) []string {
			return []string{"warm", "cas", "users", "7", value, "--expect", token}
		},
	})
}

// countTogether lets command lines count at the same time: many within this
// process, each on a connection of its own, and fewer that are processes.
func countTogether(t *testing.T, c counter) {
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		t.Run("command lines", func(t *testing.T) {
			increments := 50
			if !s.Real {
				increments = 5
			}
			c.countTo(t, s, runHere, increments)
		})
		t.Run("processes", func(t *testing.T) { c.countTo(t, s, runProcess, 1) })
	})
}

const workers = 16

// countTo lets all workers increment a new counter that often.
func (c counter) countTo(t *testing.T, s testserver.Server, run runner, increments int) {
	prefix := s.Prefix(t)
	c.run = func(args ...string) (string, int) { return run(t, s, append(args, "--prefix", prefix)...) }
	if _, status := c.run(c.create...); status != 0 {
		t.Fatalf("creating the counter: exit status %d", status)
	}
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for done := 0; done < increments && !t.Failed(); {
				if c.increment(t) {
					done++
				}
			}
		})
	}
	all.Wait()
	if got, want := c.now(t).Value, strconv.Itoa(workers*increments); got != want {
		t.Errorf("the counter is %s, want %s", got, want)
	}
}

// counted is what reading a counter gives: one of Version and Token.
type counted struct{ Value, Version, Token string }

func (c counter) now(t *testing.T) counted {
	out, status := c.run(c.read...)
	if status != 0 {
		t.Errorf("reading the counter: exit status %d", status)
		return counted{}
	}
	return parse[counted](t, out)
}

// increment tries once, and tells whether it went through.
func (c counter) increment(t *testing.T) bool {
	seen := c.now(t)
	value, err := strconv.Atoi(seen.Value)
	if err != nil {
		t.Errorf("the counter is %q", seen.Value)
		return false
	}
	_, status := c.run(c.write(strconv.Itoa(value+1), seen.Version+seen.Token)...)
	if status != 0 && status != 4 {
		t.Errorf("writing the counter: exit status %d", status)
	}
	return status == 0
}

// runner runs a command line and returns its output and exit status.
type runner func(t *testing.T, s testserver.Server, args ...string) (string, int)

func runHere(t *testing.T, s testserver.Server, args ...string) (string, int) {
	out, errs, status := execute(t, s, args...)
	if status != 0 && status != 4 {
		t.Errorf("%q printed %s", args, errs)
	}
	return out, status
}

func runProcess(t *testing.T, s testserver.Server, args ...string) (string, int) {
	process := exec.Command("keyspacectl", args...)
	process.Env = append(process.Environ(), "KEYSPACECTL_URL="+s.URL, "KEYSPACECTL_TIMEOUT=1m", "XDG_CONFIG_HOME="+t.TempDir())
	out, err := process.Output()
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case failed && exit.ExitCode() == 4:
		return "", 4
	case failed:
		t.Errorf("%q printed %s", args, exit.Stderr)
		return "", exit.ExitCode()
	case err != nil:
		t.Errorf("running %q: %v", args, err)
		return "", -1
	}
	return string(out), 0
}
