package cmd

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/embedded"
	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/internal/sample"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// samplePrefix is where the sample data goes unless a prefix is named.
const samplePrefix = "demo"

type sandboxOptions struct {
	embedded.Options
	broken  bool
	command []string
}

func newSandboxCmd(f *Factory) *cobra.Command {
	var o sandboxOptions
	c := &cobra.Command{
		Use:                   "sandbox [flags] [-- COMMAND [ARGUMENT...]]",
		DisableFlagsInUseLine: true,

		Short: "Run an embedded server with sample data",
		Long: `Run a server inside the tool, with sample data in all three stores.

Without COMMAND it serves until Ctrl-C, and prints how to connect as lines that
a shell takes. It then ends with status 130, or 143 after SIGTERM.

With COMMAND it runs that, with KEYSPACECTL_URL and KEYSPACECTL_PREFIX in its
environment and no other setting of keyspacectl, passes signals on, and ends
with its exit status; 128+N when signal N killed it.

Nothing is kept, unless --data names a file: it is read at the start, written
at the end, and locked meanwhile. A file that holds data gets no sample. Every
command works on such a file by itself with --url embedded:FILE.

With --broken the sample is damaged in all three stores, in ways that are seen
in the field: to try inspect and verify on, and what they mend.

The server is made for trying things out and for scripts, up to about 20,000
keys; it listens on this machine alone.`,
		Example: `  keyspacectl sandbox
  keyspacectl sandbox -- keyspacectl scan
  keyspacectl sandbox --broken -- keyspacectl verify
  keyspacectl sandbox --data ci.db -- ./integration-test.sh
  keyspacectl sandbox --addr 127.0.0.1:6390`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && c.ArgsLenAtDash() != 0 {
				return storeerr.New(storeerr.Invalid, "unexpected argument %q", args[0]).
					WithHint("a command to run goes behind --: keyspacectl sandbox -- %s", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			o.command = args
			return o.run(c.Context(), f)
		},
	}
	c.Flags().StringVar(&o.Data, "data", "", "keep the data in this `FILE`")
	c.Flags().BoolVar(&o.broken, "broken", false, "damage the sample data")
	c.Flags().StringVar(&o.Addr, "addr", "", "listen on this `HOST:PORT` of the machine itself (default a free port)")
	return c
}

func (o *sandboxOptions) run(ctx context.Context, f *Factory) error {
	s, err := f.Settings()
	if err != nil {
		return err
	}
	server, err := embedded.Start(ctx, o.Options)
	if err != nil {
		return err
	}
	f.closers = append(f.closers, server.Close)
	b := sandboxRecord{url: server.URL(), prefix: s.Prefix}
	if b.prefix == "" {
		b.prefix = samplePrefix
	}
	if err := fillSample(ctx, server, b.prefix, o.broken); err != nil {
		return err
	}
	if len(o.command) > 0 {
		return f.runChild(o.command, b)
	}
	if err := b.announce(f); err != nil {
		return err
	}
	<-ctx.Done()
	return silent{ctx.Err()}
}

// fillSample puts the sample into a server without data, and breaks it if asked.
func fillSample(ctx context.Context, server *embedded.Server, prefix string, broken bool) error {
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1, DisableIdentity: true})
	defer client.Close()
	filled, err := sample.Fill(ctx, client, prefix)
	if err == nil && filled && broken {
		err = sample.Break(ctx, client, prefix)
	}
	return err
}

// sandboxRecord is how to reach a sandbox.
type sandboxRecord struct{ url, prefix string }

func (b sandboxRecord) Record(r *render.Record) {
	r.Text("url", b.url)
	r.Text("prefix", b.prefix)
}

// announce prints how to connect: as shell, unless another format is asked for.
func (b sandboxRecord) announce(f *Factory) error {
	if f.settings.Output != "" {
		out, err := f.printer(render.Fields{Shown: []string{"url", "prefix"}})
		if err != nil {
			return err
		}
		return out.One(b)
	}
	_, err := fmt.Fprintf(f.Out, `# The sandbox serves until Ctrl-C. In another shell:
export KEYSPACECTL_URL=%s
export KEYSPACECTL_PREFIX=%s
# and then, for instance:
#   keyspacectl scan
#   keyspacectl put greeting hello && keyspacectl read greeting
#   keyspacectl blob list
#   keyspacectl warm segments
#   redis-cli -u "$KEYSPACECTL_URL"
`, b.url, shellQuote(b.prefix))
	if err != nil {
		return fmt.Errorf("printing how to connect: %w", err)
	}
	return nil
}
