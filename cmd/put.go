package cmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/duration"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

type putOptions struct {
	key         string
	value       valueSource
	retention   duration.Value
	keepExpiry  bool
	ifMissing   bool
	ifVersion   string
	ifValueFile string
	fromNDJSON  string
	dryRun      bool
}

func newPutCmd(f *Factory) *cobra.Command {
	var o putOptions
	c := &cobra.Command{
		Use:   "put KEY [VALUE] | put --from-ndjson FILE",
		Short: "Write one key of the versioned store",
		Long: `Write one key of the versioned store.

The value is the argument VALUE, the bytes of --file, or else the standard
input. With a condition the write happens only while it holds; otherwise
nothing changes and the exit status is 4.

--from-ndjson puts many rows: a JSON object a line, as scan -o ndjson prints
them, with key or key_base64, value or value_base64, and either retention or
expires_at; version and size are passed over. They are written in batches, each
atomic. A line that does not read ends it, with what stands before it written,
and the exit status is 10: the message counts the rows and says where to go on.`,
		Example: `  keyspacectl put mykey hello
  keyspacectl put mykey --file value.json --retention 24h
  keyspacectl put mykey v2 --if-version 7
  keyspacectl put --key-format escaped 'owner-lease\0id-1' '{"recordVersion":"1"}'
  keyspacectl put mykey -- -100
  keyspacectl scan sessions/ -o ndjson | keyspacectl put --from-ndjson - --dry-run`,
		Args: argsUnless(&o.fromNDJSON, cobra.RangeArgs(1, 2), cobra.NoArgs),
		RunE: func(c *cobra.Command, args []string) error {
			if o.fromNDJSON != "" {
				return o.runRows(c.Context(), f)
			}
			o.key = args[0]
			o.value.fromArgs(args, 1)
			if err := o.check(c, f); err != nil {
				return err
			}
			return o.run(c.Context(), f)
		},
	}
	o.value.register(c, "value")
	c.Flags().Var(&o.retention, "retention", "let the row expire after this `DURATION`, such as 30s or 24h")
	c.Flags().BoolVar(&o.keepExpiry, "keep-expiry", false, "keep the expiry of the row that is replaced")
	c.Flags().BoolVar(&o.ifMissing, "if-missing", false, "write only if the key has no live row")
	c.Flags().StringVar(&o.ifVersion, "if-version", "", "write only if the row has this `VERSION`")
	c.Flags().StringVar(&o.ifValueFile, "if-value-file", "", "write only if the row has exactly the bytes of this `FILE`")
	c.MarkFlagsMutuallyExclusive("retention", "keep-expiry")
	c.MarkFlagsMutuallyExclusive("if-missing", "if-version", "if-value-file")
	c.Flags().StringVar(&o.fromNDJSON, "from-ndjson", "", "put the rows of this `FILE`, a JSON object a line; - is the standard input")
	for _, single := range []string{"file", "retention", "keep-expiry", "if-missing", "if-version", "if-value-file"} {
		c.MarkFlagsMutuallyExclusive("from-ndjson", single)
	}
	addDryRun(c, &o.dryRun)
	return c
}

func (o *putOptions) check(c *cobra.Command, f *Factory) error {
	if c.Flags().Changed("if-version") && o.ifVersion == "" {
		return storeerr.New(storeerr.Invalid, "--if-version is empty")
	}
	if o.value.file == "-" && o.ifValueFile == "-" {
		return storeerr.New(storeerr.Invalid, "--file and --if-value-file cannot both be the standard input")
	}
	var err error
	if o.key, err = f.key(o.key); err != nil {
		return err
	}
	return o.value.check(f)
}

func (o *putOptions) run(ctx context.Context, f *Factory) error {
	out, err := f.printer(writtenFields())
	if err != nil {
		return err
	}
	store, err := f.opaque(writes)
	if err != nil {
		return err
	}
	batch, err := o.batch(f)
	if err != nil {
		return err
	}
	applied, err := f.write(ctx, store, batch, o.dryRun)
	if err != nil {
		return err
	}
	out.SetNow(applied.Now)
	return out.One(writtenRecords(applied, o.dryRun)[0])
}

func (o *putOptions) batch(f *Factory) (opaque.Batch, error) {
	var b opaque.Batch
	value, err := o.value.read(f, opaque.MaxValueBytes)
	if err != nil {
		return b, err
	}
	expiry := opaque.Never()
	switch {
	case o.retention > 0:
		expiry = opaque.After(time.Duration(o.retention))
	case o.keepExpiry:
		expiry = opaque.Keep()
	}
	b.Mutations = []opaque.Mutation{opaque.Put(o.key, string(value), expiry)}
	switch {
	case o.ifMissing:
		b.Conditions = []opaque.Condition{opaque.Missing(o.key)}
	case o.ifVersion != "":
		b.Conditions = []opaque.Condition{opaque.VersionIs(o.key, o.ifVersion)}
	case o.ifValueFile != "":
		expected := valueSource{file: o.ifValueFile}
		bytes, err := expected.read(f, opaque.MaxValueBytes)
		if err != nil {
			return b, err
		}
		b.Conditions = []opaque.Condition{opaque.ValueIs(o.key, string(bytes))}
	}
	return b, nil
}
