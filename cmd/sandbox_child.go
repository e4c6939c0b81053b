// The command that a sandbox runs.

package cmd

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// runChild runs a command on a sandbox and ends with its status. It is the
// command that decides when a signal ends it, so the sandbox waits for it.
func (f *Factory) runChild(command []string, b sandboxRecord) error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, endingSignals()...)
	defer signal.Stop(signals)

	child := exec.Command(command[0], command[1:]...)
	child.Stdin, child.Stdout, child.Stderr = f.In, f.Out, f.Err
	if file, ok := stream(f.In).(*os.File); ok {
		child.Stdin = file
	}
	if file, ok := stream(f.Out).(*os.File); ok {
		child.Stdout = file
	}
	child.Env = b.environment(os.Environ())
	if err := child.Start(); err != nil {
		return storeerr.New(storeerr.Invalid, "running the command: %w", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- child.Wait() }()
	for {
		select {
		case err := <-exited:
			return childStatus(err)
		case s := <-signals:
			if s == os.Interrupt && f.atTerminal() {
				continue // a terminal sends Ctrl-C to the command itself, too
			}
			_ = child.Process.Signal(s) // fails only when it has just ended
		}
	}
}

func (f *Factory) atTerminal() bool { return f.inTerminal() || f.outTerminal() || f.errTerminal() }

// childStatus ends the program as the command ended.
func childStatus(err error) error {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return statusError{128 + int(status.Signal())}
	}
	return statusError{exit.ExitCode()}
}

// environment is a child's: the sandbox, and no setting or password that
// belongs to another server.
func (b sandboxRecord) environment(own []string) []string {
	env := slices.DeleteFunc(own, func(variable string) bool {
		return strings.HasPrefix(variable, "KEYSPACECTL_") || strings.HasPrefix(variable, "REDISCLI_AUTH=")
	})
	return append(env,
		"KEYSPACECTL_URL="+b.url,
		"KEYSPACECTL_PREFIX="+b.prefix,
		"KEYSPACECTL_CONFIG="+os.DevNull)
}
