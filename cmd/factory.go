// The factory: the lazy parts that commands are made of. Nothing is read or
// dialed before a command asks for it.

package cmd

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/keyspacectl/keyspacectl/internal/config"
	"github.com/keyspacectl/keyspacectl/internal/embedded"
	"github.com/keyspacectl/keyspacectl/internal/redisconn"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Factory gives one command line its streams, settings and stores.
type Factory struct {
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Getenv func(string) string
	// Width makes Out stand for a terminal of so many columns. 0 leaves it to
	// what Out is.
	Width int

	ctx      context.Context // ends when the command should stop
	serving  context.Context // ends when no server is waited for any more
	out      *output         // what Out has become
	flags    *pflag.FlagSet
	started  bool // the command line was understood, and the command runs
	settings *config.Settings
	client   redis.UniversalClient
	carried  func(bytes int) // told of what goes to and from the server, or nil
	closers  []func() error
}

// NewFactory returns a factory on the streams and environment of the process.
func NewFactory() *Factory {
	return &Factory{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv}
}

// begin prepares the factory to run one command line until ctx ends. The
// function it returns must be called behind that.
func (f *Factory) begin(ctx context.Context) (release func()) {
	writing, releaseWriting := after(ctx, outputGrace)
	serving, releaseServing := after(ctx, serverGrace)
	f.ctx, f.serving = ctx, serving
	f.out = &output{Writer: f.Out, ctx: writing}
	f.In, f.Out = &input{Reader: f.In, ctx: ctx}, f.out
	return func() {
		releaseWriting()
		releaseServing()
	}
}

// Settings loads the global settings once.
func (f *Factory) Settings() (*config.Settings, error) {
	if f.settings == nil {
		settings, err := config.Load(f.flags, f.Getenv)
		if err != nil {
			return nil, err
		}
		f.settings = settings
	}
	return f.settings, nil
}

// connect returns the connection of the settings, which dials when it is first
// used. It refuses to write where the settings say read-only.
func (f *Factory) connect(a access) (redis.UniversalClient, error) {
	s, err := f.Settings()
	if err != nil {
		return nil, err
	}
	if a == writes && s.ReadOnly {
		return nil, storeerr.New(storeerr.ReadOnly, "the context %q is read-only", s.Context)
	}
	if f.client != nil {
		return f.client, nil
	}
	options, err := s.Connection(f.ctx)
	if err != nil {
		return nil, err
	}
	options.Until, options.Carried = f.serving, f.carried
	if s.Verbose {
		options.Trace = f.Err
	}
	if s.Target.Embedded != "" {
		if options.Target, err = f.embed(s); err != nil {
			return nil, err
		}
	}
	client, err := redisconn.Open(options)
	if err != nil {
		return nil, err
	}
	f.client = client
	f.closers = append(f.closers, client.Close)
	return client, nil
}

// embed starts the embedded server on the settings' data file. It is saved
// when the command line ends.
func (f *Factory) embed(s *config.Settings) (redisconn.Target, error) {
	ctx, cancel := context.WithTimeout(f.ctx, s.Timeout)
	defer cancel()
	server, err := embedded.Start(ctx, embedded.Options{Data: s.Target.Embedded})
	if err != nil {
		return redisconn.Target{}, err
	}
	f.closers = append(f.closers, server.Close)
	target, err := redisconn.ParseAddr(server.Addr())
	target.DB = s.Target.DB
	return target, err
}

// close ends what was opened, last first.
func (f *Factory) close() error {
	var errs []error
	for i := len(f.closers) - 1; i >= 0; i-- {
		errs = append(errs, f.closers[i]())
	}
	f.closers, f.client = nil, nil
	return errors.Join(errs...)
}

// operation bounds a whole operation by --timeout, connecting included.
func (f *Factory) operation(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, f.settings.Timeout)
}

// commandPath is the longest known command that args begin with, for hints.
func (f *Factory) commandPath(root *cobra.Command, args []string) string {
	c, _, err := root.Find(args)
	if err != nil || c == nil {
		return root.CommandPath()
	}
	return c.CommandPath()
}
