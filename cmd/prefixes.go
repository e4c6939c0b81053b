package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func newPrefixesCmd(f *Factory) *cobra.Command {
	o := keyspace.DiscoverOptions{Sample: 100}
	c := &cobra.Command{
		Use:   "prefixes",
		Short: "List the stores and prefixes that a server holds",
		Long: `List the stores and prefixes that a server holds, with counts and sizes.

Every key of the server is looked at by its name: a line is a store of one
prefix in one layout, in the warm store one segment, and the last line counts
the keys of others. Older layouts without a mark in their names are told by
types and times to live. "records" are rows, blobs or chunks.

"bytes" is the memory that the keys take, by MEMORY USAGE of --sample keys of
each kind and the mean of those for the rest. It is null where the user may
not run that command. "due" counts the keys that wait to be collected, and
"oldest_snapshot" is when the oldest open one was opened.

The walk is in bounded steps, and takes its time on a large server; beside
writers the counts are about right.`,
		Example: `  keyspacectl prefixes
  keyspacectl prefixes --match 'app:*' -o json
  keyspacectl prefixes --max-keys 100000 --sample 10`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("max-keys") && o.MaxKeys < 1 {
				return storeerr.New(storeerr.Invalid, "--max-keys is at least 1, not %d", o.MaxKeys)
			}
			if o.Sample < 0 {
				return storeerr.New(storeerr.Invalid, "--sample is at least 0, not %d", o.Sample)
			}
			return runPrefixes(c.Context(), f, o)
		},
	}
	c.Flags().StringVar(&o.Match, "match", "", "look only at keys that match this `GLOB`, as SCAN takes it")
	c.Flags().IntVar(&o.Sample, "sample", o.Sample, "measure this `NUMBER` of keys of each kind; 0 measures none")
	c.Flags().Int64Var(&o.MaxKeys, "max-keys", 0, "stop after looking at this `NUMBER` of keys")
	return c
}

func runPrefixes(ctx context.Context, f *Factory, o keyspace.DiscoverOptions) error {
	out, err := f.printer(foundFields())
	if err != nil {
		return err
	}
	client, err := f.connect(reads)
	if err != nil {
		return err
	}
	progress := f.progress("keys")
	defer progress.Stop()
	o.Progress = progress.Set
	found, err := keyspace.Discover(ctx, client, o)
	progress.Stop()
	if err != nil {
		return err
	}
	f.tellOfDiscovery(found)
	records := make([]foundRecord, len(found.Stores))
	var now int64
	for i, s := range found.Stores {
		records[i] = foundRecord{s, !found.Stopped}
		now = max(now, s.Now)
	}
	out.SetNow(now)
	if err := printAll(out, records); err != nil {
		return err
	}
	damaged := damage{what: "store"}
	for _, err := range found.Damaged {
		damaged.add(f, err)
	}
	return damaged.err()
}

// tellOfDiscovery says what the numbers leave out.
func (f *Factory) tellOfDiscovery(d *keyspace.Discovery) {
	if d.Stopped {
		f.warn("stopped after %d keys: the counts are of those", d.Looked)
	}
	if d.Crowded {
		f.warn("too many prefixes look like an older layout without a mark: some are counted as foreign (--match narrows the search)")
	}
	if d.Unmeasured != nil {
		f.warn("not all was measured: %v", d.Unmeasured)
	}
	for _, s := range d.Stores {
		if s.Bytes >= 0 && s.Measured < s.Keys {
			f.note("bytes are estimated where not all keys were measured (column measured)")
			break
		}
	}
}
