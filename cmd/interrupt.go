// How a command line ends early. The first signal asks the command to stop:
// its context ends, and it closes its snapshots and removes its files. What is
// still blocked a while later, on a server or a pipe, is made to fail, so that
// the command gets there.

package cmd

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/keyspacectl/keyspacectl/internal/progress"
	"github.com/keyspacectl/keyspacectl/internal/render"
)

// How long what is under way may take once the command was asked to stop.
const (
	// outputGrace is for what is being written. It is the shorter one: a reader
	// that stalls must leave time to close a snapshot.
	outputGrace = 500 * time.Millisecond
	// serverGrace is for what the server was asked, the cleaning up included.
	serverGrace = 1500 * time.Millisecond
)

// interrupted is the error of a command that a signal ended.
type interrupted struct {
	signal os.Signal
}

// Error says how, in the name that errors in JSON have for it.
func (e interrupted) Error() string {
	if e.signal == os.Interrupt {
		return "interrupted"
	}
	return "terminated"
}

func (e interrupted) code() int {
	if e.signal == os.Interrupt {
		return exitInterrupt
	}
	return exitTerminated
}

// endingSignals are the signals that ask a program to end, without those that
// whoever started it wants ignored, as nohup does.
func endingSignals() []os.Signal {
	var signals []os.Signal
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signals = append(signals, s)
		}
	}
	return signals
}

// signalContext is cancelled by the first signal, with interrupted as its
// cause; the second one ends the process as usual. A broken pipe is an error
// of writing, not a signal.
func signalContext(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, endingSignals()...)
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	go func() {
		select {
		case s := <-signals:
			cancel(interrupted{s})
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

// after returns a context that ends when ctx has been over for a while.
func after(ctx context.Context, grace time.Duration) (context.Context, func()) {
	over, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return over, func() {
		stop()
		cancel()
	}
}

// input is a stream of input that ends with its context, blocked or not.
type input struct {
	io.Reader
	ctx    context.Context
	buffer []byte // a read that outlives its call must not write elsewhere
}

func (in *input) Read(p []byte) (int, error) {
	if in.buffer == nil {
		in.buffer = make([]byte, 64<<10)
	}
	if err := in.ctx.Err(); err != nil {
		return 0, err
	}
	part := in.buffer[:min(len(in.buffer), len(p))]
	n, err := await(in.ctx, func() (int, error) { return in.Reader.Read(part) })
	return copy(p, part[:n]), err
}

// output is a stream of output that ends with its context, blocked or not. It
// remembers that writing has failed, since not everybody tells.
type output struct {
	io.Writer
	ctx  context.Context
	err  error
	line *progress.Counter // may stand on the same terminal, or nil
}

func (out *output) Write(p []byte) (int, error) {
	out.line.Clear()
	n, err := await(out.ctx, func() (int, error) { return out.Writer.Write(p) })
	if render.IsBrokenPipe(err) {
		// A connection can break too: only here it is the reader that went.
		err = readerGone{err}
	}
	if err != nil {
		out.err = err
	}
	return n, err
}

// readerGone is the error of writing to a reader that went away.
type readerGone struct{ error }

func (e readerGone) Unwrap() error { return e.error }

// await returns what do returns, or the error of ctx if that ends first.
func await[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type result struct {
		got T
		err error
	}
	done := make(chan result, 1)
	go func() {
		got, err := do()
		done <- result{got, err}
	}()
	select {
	case r := <-done:
		return r.got, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// stream is what a stream of the factory stands for: a file, or a buffer.
func stream(s any) any {
	switch s := s.(type) {
	case *input:
		return s.Reader
	case *output:
		return s.Writer
	}
	return s
}
