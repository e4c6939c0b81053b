// Package cmd is the command line of keyspacectl: one verb, one file. A
// command declares its flags, checks them, calls one function of a package,
// and hands the result to a printer.
package cmd

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Main runs the command line of this process and returns its exit status.
func Main() int {
	ctx, stop := signalContext(context.Background())
	defer stop()
	return NewFactory().Run(ctx, os.Args[1:])
}

// Run runs one command line and returns its exit status. A failure is told on
// the standard error.
func (f *Factory) Run(ctx context.Context, args []string) int {
	root := NewRootCmd(f)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if closeErr := f.close(); err == nil {
		err = closeErr
	}
	if render.IsBrokenPipe(err) {
		return exitDone
	}
	if err != nil && !f.started && storeerr.KindOf(err) == storeerr.Failed {
		err = storeerr.New(storeerr.Invalid, "%w", err).WithHint("see `%s --help`", f.commandPath(root, args))
	}
	code, kind := codeOf(err, context.Cause(ctx))
	if err == nil || errors.As(err, &silent{}) || errors.As(err, &statusError{}) {
		return code
	}
	failure := render.Failure{Code: code, Kind: kind, Message: err.Error(), Hint: storeerr.HintOf(err)}
	// Where the standard error is gone, nobody is left to tell.
	_ = render.Error(f.Err, f.errorFormat(root), failure)
	return code
}

// signalContext is cancelled by the first Ctrl-C, SIGTERM or SIGHUP, so that
// the command can clean up; the second one ends the process as usual. A
// broken pipe is an error of writing, not a signal.
func signalContext(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	go func() {
		select {
		case s := <-signals:
			code := exitTerminated
			if s == os.Interrupt {
				code = exitInterrupt
			}
			cancel(interrupted{code})
			signal.Stop(signals)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		signal.Stop(signals)
		signal.Stop(pipes)
	}
}
