// Running the program as a process, for tests of signals and pipes.

package main_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

// watchdog ends a process that does not end by itself. Only a test that fails
// waits for it.
const watchdog = 2 * time.Minute

// process is the program at work.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  *os.File // the writing end
	stdout *os.File // the reading end
	lines  *bufio.Reader
	stderr bytes.Buffer
}

// start starts the program on a server, with pipes.
func start(t *testing.T, url string, args ...string) *process {
	t.Helper()
	program, err := exec.LookPath("keyspacectl")
	if err != nil {
		t.Fatal(err)
	}
	stdin, stdinEnd := pipe(t)
	stdoutEnd, stdout := pipe(t)
	p := &process{t: t, cmd: exec.Command(program, args...), stdin: stdinEnd, stdout: stdoutEnd, lines: bufio.NewReader(stdoutEnd)}
	p.cmd.Env = append(os.Environ(),
		"KEYSPACECTL_URL="+url, "KEYSPACECTL_PREFIX=app", "KEYSPACECTL_CONFIG="+os.DevNull)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = stdin, stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dog := time.AfterFunc(watchdog, func() { _ = p.cmd.Process.Kill() })
	t.Cleanup(func() { dog.Stop() })
	for _, end := range []io.Closer{stdin, stdout} {
		if err := end.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func pipe(t *testing.T) (reader, writer *os.File) {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(reader.Close(), writer.Close()) })
	return reader, writer
}

// line waits for the next line of output.
func (p *process) line() string {
	p.t.Helper()
	line, err := p.lines.ReadString('\n')
	if err != nil {
		p.t.Fatalf("reading a line: %v, after %q", err, line)
	}
	return strings.TrimSuffix(line, "\n")
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// ends waits for the end of the process and checks its status.
func (p *process) ends(status int) {
	p.t.Helper()
	err := p.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		p.t.Fatal(err)
	} else if got := p.cmd.ProcessState.ExitCode(); got != status {
		p.t.Errorf("exit status %d (%v), want %d; it said %q", got, exit, status, p.stderr.String())
	}
}

// says checks all that came to the standard error of a process that has ended.
func (p *process) says(want string) {
	p.t.Helper()
	if got := p.stderr.String(); got != want {
		p.t.Errorf("it said %q, want %q", got, want)
	}
}

// fill writes rows with values of 200 bytes, and returns their store.
func fill(t *testing.T, s testserver.Server, rows int) *opaque.Store {
	t.Helper()
	store, err := opaque.New(s.Client(t), "app")
	if err != nil {
		t.Fatal(err)
	}
	var batch opaque.Batch
	for i := range rows {
		batch.Mutations = append(batch.Mutations, opaque.Put(fmt.Sprintf("key/%06d", i), strings.Repeat("v", 200), opaque.Never()))
		if len(batch.Mutations) == 1000 || i == rows-1 {
			if _, err := store.Write(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
			batch.Mutations = nil
		}
	}
	return store
}

// noSnapshots checks that no snapshot is open.
func noSnapshots(t *testing.T, store *opaque.Store) {
	t.Helper()
	_, states, err := store.Snapshots(t.Context())
	if err != nil || len(states) > 0 {
		t.Errorf("snapshots %+v, %v; want none", states, err)
	}
}

// files returns the names of what is in a directory.
func files(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		names[i] = filepath.Base(name)
	}
	return names
}

// hungServer refuses the first requests of each connection and leaves the next
// one unanswered. hangs tells of that.
func hungServer(t *testing.T, answers int) (url string, hangs <-chan struct{}) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	told := make(chan struct{}, 100)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
			go func() {
				request := make([]byte, 64<<10)
				for i := 0; ; i++ {
					if _, err := conn.Read(request); err != nil {
						return
					}
					if i >= answers {
						told <- struct{}{}
						return
					}
					_, _ = conn.Write([]byte("-ERR unknown command\r\n"))
				}
			}()
		}
	}()
	return "redis://" + listener.Addr().String(), told
}
