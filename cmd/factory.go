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
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
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

// access is what a command means to do to a store.
type access int

const (
	reads access = iota
	writes
)

// opaque returns the versioned store of the settings' prefix.
func (f *Factory) opaque(a access) (*opaque.Store, error) {
	prefix, err := f.prefix()
	if err != nil {
		return nil, err
	}
	return open(f, a, prefix, opaque.New)
}

// blobs returns the blob store of the settings' prefix.
func (f *Factory) blobs(a access) (*blob.Store, error) {
	prefix, err := f.prefix()
	if err != nil {
		return nil, err
	}
	return open(f, a, prefix, blob.New)
}

// warm returns the warm store of the settings' prefix, which may be empty.
func (f *Factory) warm(a access) (*warm.Store, error) {
	s, err := f.Settings()
	if err != nil {
		return nil, err
	}
	return open(f, a, s.Prefix, warm.New)
}

// prefix is the one that the settings name; the opaque and blob stores have no
// default.
func (f *Factory) prefix() (string, error) {
	s, err := f.Settings()
	if err != nil {
		return "", err
	}
	if s.Prefix == "" {
		return "", storeerr.New(storeerr.Invalid, "no prefix is named").
			WithHint("give --prefix or set KEYSPACECTL_PREFIX; `keyspacectl prefixes` lists those that the server holds")
	}
	return s.Prefix, nil
}

// open makes a store on the connection. The prefix is checked before anything
// is opened.
func open[S any](f *Factory, a access, prefix string, make func(redis.UniversalClient, string) (S, error)) (S, error) {
	var none S
	if _, err := make(nil, prefix); err != nil {
		return none, err
	}
	client, err := f.connect(a)
	if err != nil {
		return none, err
	}
	return make(client, prefix)
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
	options.Until = f.serving
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
