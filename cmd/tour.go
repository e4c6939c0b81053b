package cmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/embedded"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// tourWidth is the terminal that the tour is laid out for.
const tourWidth = 80

func newTourCmd(f *Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "tour",
		Short: "Show the main commands at work, without a Redis",
		Long: `Show the main commands at work: each command line with its output, run on an
embedded server with sample data that ends with the tour. Nothing else is
read or written, neither a server nor settings.`,
		Example: `  keyspacectl tour`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return runTour(c.Context(), f) },
	}
}

func runTour(ctx context.Context, f *Factory) error {
	server, err := embedded.Start(ctx, embedded.Options{})
	if err != nil {
		return err
	}
	f.closers = append(f.closers, server.Close)
	if err := fillSample(ctx, server, samplePrefix, false); err != nil {
		return err
	}
	guide := tourGuide{out: f.Out, url: server.URL()}
	for _, part := range tour() {
		guide.print("# " + part.about + "\n")
		for _, step := range part.steps {
			if err := guide.run(ctx, step); err != nil {
				return err
			}
		}
		guide.print("\n")
	}
	guide.print("To go on by yourself, on the same data: keyspacectl sandbox\n")
	return guide.err
}

// tourPart is a few commands, and a line on what they are about.
type tourPart struct {
	about string
	steps []tourStep
}

// tourStep is a command line of the tour.
type tourStep struct {
	args   []string
	input  string // what echo gives to its standard input, if anything
	head   int    // shows so many lines of what it gives a pipe
	status int    // the exit status that it must have
}

// lastWord, as an argument, is the last word that the step before printed.
const lastWord = "LAST"

// tourGuide runs the steps and prints what a terminal would show.
type tourGuide struct {
	out  io.Writer
	url  string
	last string // the last word printed
	err  error
}

func (g *tourGuide) run(ctx context.Context, step tourStep) error {
	var said bytes.Buffer
	f := &Factory{In: strings.NewReader(step.input + "\n"), Out: &said, Err: &said, Getenv: g.getenv, Width: tourWidth}
	if step.head > 0 {
		f.Width = 0
	}
	if at := slices.Index(step.args, lastWord); at >= 0 {
		step.args[at] = g.last
	}
	g.print(step.String())
	status := f.Run(ctx, step.args)
	g.show(said.String(), step.head)
	if status != exitDone {
		g.print(fmt.Sprintf("(exit status %d)\n", status))
	}
	if status != step.status && ctx.Err() == nil {
		return storeerr.New(storeerr.Failed, "the tour went wrong: keyspacectl %s ended with status %d", step.args[0], status)
	}
	return ctx.Err()
}

// show prints output, or its first lines, without the blanks that fill tables.
func (g *tourGuide) show(said string, head int) {
	lines := 0
	for line := range strings.Lines(said) {
		if lines++; head > 0 && lines > head {
			return
		}
		g.print(strings.TrimRight(line, " \n") + "\n")
		if words := strings.Fields(line); len(words) > 0 {
			g.last = words[len(words)-1]
		}
	}
}

// String is the step as it would be typed.
func (s tourStep) String() string {
	var line strings.Builder
	line.WriteString("$ ")
	if s.input != "" {
		line.WriteString("echo " + shellQuote(s.input) + " | ")
	}
	line.WriteString("keyspacectl")
	for _, arg := range s.args {
		line.WriteString(" " + shellQuote(arg))
	}
	if s.head > 0 {
		fmt.Fprintf(&line, " | head -%d", s.head)
	}
	return line.String() + "\n"
}

// getenv is the environment of the steps: nothing but the tour's server.
func (g *tourGuide) getenv(name string) string {
	return map[string]string{
		"KEYSPACECTL_URL":    g.url,
		"KEYSPACECTL_PREFIX": samplePrefix,
		"NO_COLOR":           "1",
	}[name]
}

func (g *tourGuide) print(text string) {
	if g.err == nil {
		_, g.err = io.WriteString(g.out, text)
	}
}
