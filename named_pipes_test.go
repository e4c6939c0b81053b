//go:build unix

// Archives that come through pipes with a name.

package main_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
)

// TestNamedPipes holds that what comes through a pipe with a name is read once,
// and waiting for who writes to it ends with the command.
func TestNamedPipes(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t)
	fillStores(t, s.Client(t), "app", 100, 3, 3)
	archive, err := os.ReadFile(exported(t, s, "app"))
	noError(t, err)
	env := map[string]string{"KEYSPACECTL_URL": s.URL, "KEYSPACECTL_PREFIX": "to", "KEYSPACECTL_TIMEOUT": "1m"}
	for _, command := range [][]string{{"import"}, {"diff", "--left-file"}} {
		name := filepath.Join(t.TempDir(), "pipe")
		noError(t, syscall.Mkfifo(name, 0o600))
		wrote := make(chan error, 1)
		go func() { wrote <- os.WriteFile(name, archive, 0) }()
		if r := runWith(t.Context(), env, "", append(command, name)...); r.status != 0 {
			t.Errorf("%v: %+v", command, r)
		}
		noError(t, <-wrote)

		// Nobody opens it, and somebody who writes nothing.
		ended, end := context.WithCancel(t.Context())
		end()
		if r := runWith(ended, env, "", append(command, name)...); !strings.Contains(r.errors, "context canceled") {
			t.Errorf("%v, which nobody writes to: %+v", command, r)
		}
		silent, err := os.OpenFile(name, os.O_RDWR, 0)
		noError(t, err)
		if r := runWith(ended, env, "", append(command, name)...); !strings.Contains(r.errors, "context canceled") {
			t.Errorf("%v, and silence: %+v", command, r)
		}
		noError(t, silent.Close())
	}
}
