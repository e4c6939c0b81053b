// Package cmd is the command line of keyspacectl: one verb, one file. A
// command declares its flags, checks them, calls one function of a package,
// and hands the result to a printer.
package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

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
// the standard error. When ctx ends the command cleans up and returns within
// two seconds, whatever it was waiting for.
func (f *Factory) Run(ctx context.Context, args []string) int {
	release := f.begin(ctx)
	defer release()
	root := NewRootCmd(f)
	root.SetArgs(args)
	err := f.execute(root)
	if closeErr := f.close(); err == nil {
		err = closeErr
	} else if closeErr != nil {
		f.warn("%v", closeErr)
	}
	if errors.As(err, new(readerGone)) {
		return exitDone
	}
	if err != nil && !f.started && f.out.err == nil && storeerr.KindOf(err) == storeerr.Failed {
		err = storeerr.New(storeerr.Invalid, "%w", err).WithHint("see `%s --help`", f.commandPath(root, args))
	}
	failure := failureOf(err, context.Cause(ctx))
	if err == nil || errors.As(err, &silent{}) || errors.As(err, &statusError{}) {
		return failure.Code
	}
	if f.settings != nil && f.settings.Unused != "" && errors.Is(err, storeerr.Denied) {
		failure.Hint = f.settings.Unused
	}
	// Where the standard error is gone, nobody is left to tell.
	_ = render.Error(f.Err, f.errorFormat(args), failure)
	return failure.Code
}

// execute runs the command. What Cobra itself prints, such as help, is
// gathered and written here, because Cobra does not tell when that fails.
func (f *Factory) execute(root *cobra.Command) error {
	var help bytes.Buffer
	root.SetOut(&help)
	if err := root.ExecuteContext(f.ctx); err != nil {
		return err
	}
	if help.Len() > 0 {
		_, _ = f.Out.Write(help.Bytes()) // f.out knows
	}
	if f.out.err != nil {
		return fmt.Errorf("writing output: %w", f.out.err)
	}
	return nil
}
