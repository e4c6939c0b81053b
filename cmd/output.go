// Output: formats, notes, questions and progress.

package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/keyspacectl/keyspacectl/internal/keyformat"
	"github.com/keyspacectl/keyspacectl/internal/progress"
	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func isTerminal(s any) bool {
	file, ok := stream(s).(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func (f *Factory) inTerminal() bool  { return isTerminal(f.In) }
func (f *Factory) outTerminal() bool { return f.Width > 0 || isTerminal(f.Out) }
func (f *Factory) errTerminal() bool { return isTerminal(f.Err) }

// width is the columns of the terminal that the output goes to, 0 for none.
func (f *Factory) width() int {
	file, ok := stream(f.Out).(*os.File)
	if f.Width > 0 || !ok {
		return f.Width
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// format is the one asked for, or by where the output goes: a table for a
// terminal, else the bytes of a single value, else tsv.
func (f *Factory) format(singleValue bool) (render.Format, error) {
	s, err := f.Settings()
	switch {
	case err != nil:
		return "", err
	case s.Output != "":
		return s.Output, nil
	case f.outTerminal():
		return render.Table, nil
	case singleValue:
		return render.Raw, nil
	}
	return render.TSV, nil
}

// printer returns a printer for results with these fields. A choice of columns
// that they do not have is refused.
func (f *Factory) printer(fields render.Fields) (*render.Printer, error) {
	format, err := f.format(fields.Raw != "")
	if err != nil {
		return nil, err
	}
	s := f.settings
	leftOut := func(columns []string) {
		f.note("the terminal is too narrow for %s: name columns by --columns, or see all with -o json", strings.Join(columns, ", "))
	}
	p, err := render.New(f.Out, render.Options{
		Format: format, Columns: s.Columns, Headers: s.Headers, Time: s.Time, Width: f.width(),
		Color: s.Color == "always" || (s.Color == "auto" && f.outTerminal()), LeftOut: leftOut,
	}, fields)
	if err != nil {
		return nil, storeerr.New(storeerr.Invalid, "%w", err)
	}
	return p, nil
}

// printAll prints a list.
func printAll[T render.Recorder](out *render.Printer, records []T) error {
	for _, r := range records {
		if err := out.Row(r); err != nil {
			return err
		}
	}
	return out.End()
}

// stopped writes out what a list had when err ended it, and returns err.
func stopped(out *render.Printer, err error) error {
	if flushErr := out.Flush(); flushErr != nil && !errors.Is(err, context.Canceled) {
		return flushErr
	}
	return err
}

// checkRaw refuses to send binary data to a terminal, unless it is forced.
func (f *Factory) checkRaw(value string, force bool) error {
	format, err := f.format(true)
	if err != nil || format != render.Raw || force || !f.outTerminal() || !render.IsBinary([]byte(value)) {
		return err
	}
	return storeerr.New(storeerr.Invalid, "the value is binary, and the output a terminal").
		WithHint("redirect it to a file, or add --force")
}

// errorFormat is the format for errors: also before, or without, settings.
func (f *Factory) errorFormat(args []string) render.Format {
	if f.settings != nil {
		return f.settings.Output
	}
	// Cobra stops at what it does not understand; -o may stand behind that.
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	name := flags.StringP("output", "o", f.Getenv("KEYSPACECTL_OUTPUT"), "")
	_ = flags.Parse(args)
	return render.Format(*name)
}

// note tells something that is good to know, unless --quiet.
func (f *Factory) note(format string, args ...any) {
	if f.settings == nil || !f.settings.Quiet {
		f.tell("note", format, args...)
	}
}

// warn tells something that must be known.
func (f *Factory) warn(format string, args ...any) { f.tell("warning", format, args...) }

func (f *Factory) tell(what, format string, args ...any) {
	f.out.line.Clear()
	// Where the standard error is gone, nobody is left to tell.
	_, _ = fmt.Fprintf(f.Err, "%s: %s\n", what, keyformat.Printable(fmt.Sprintf(format, args...)))
}

// confirm asks before what destroys more than the keys named. Without a
// terminal to ask at, only --yes will do.
func (f *Factory) confirm(yes bool, format string, args ...any) error {
	if yes {
		return nil
	}
	what := keyformat.Printable(fmt.Sprintf(format, args...))
	if !f.inTerminal() || !f.errTerminal() {
		return storeerr.New(storeerr.Invalid, "refusing to %s without being asked: there is no terminal", what).WithHint("add --yes, or look first with --dry-run")
	}
	_, _ = fmt.Fprintf(f.Err, "About to %s. Go on? [y/N] ", what)
	answer, err := bufio.NewReader(f.In).ReadString('\n')
	if err != nil && err != io.EOF {
		return fmt.Errorf("reading the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return storeerr.New(storeerr.Failed, "not confirmed, nothing has changed")
}

// progress counts work on the standard error, once it has taken a second and
// if that is a terminal.
func (f *Factory) progress(what string) *progress.Counter {
	if !f.errTerminal() || f.settings.Quiet {
		return nil
	}
	f.out.line = progress.New(f.Err, what)
	return f.out.line
}

// carrying counts the bytes that go to and from the server, for a command that
// moves one large thing. It comes before the connection.
func (f *Factory) carrying() *progress.Counter {
	c := f.progress("bytes")
	if c != nil {
		f.carried = func(n int) { c.Add(int64(n)) }
	}
	return c
}

// partial is err, or where something was done before it the message of a bulk
// command that stopped midway.
func partial(err error, begun bool, format string, args ...any) error {
	if !begun {
		return err
	}
	return storeerr.New(storeerr.Partial, "%s: %w", fmt.Sprintf(format, args...), err)
}

func addDryRun(c *cobra.Command, dryRun *bool) {
	c.Flags().BoolVar(dryRun, "dry-run", false, "say what would be done, and change nothing")
}

func addYes(c *cobra.Command, yes *bool) {
	c.Flags().BoolVar(yes, "yes", false, "do not ask")
}

func addForce(c *cobra.Command, force *bool) {
	c.Flags().BoolVar(force, "force", false, "print binary data even to a terminal")
}
