package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func newHistoryCmd(f *Factory) *cobra.Command {
	var decode bool
	c := &cobra.Command{
		Use:   "history KEY",
		Short: "Show every version still in a row, newest first",
		Long: `Show every version still in a row of the versioned store, newest first.

Only the newest version can be live: it is neither a tombstone nor expired.
Older ones are there for open snapshots, until they are collected.`,
		Example: `  keyspacectl history mykey
  keyspacectl history mykey -o ndjson | jq -r .version
  keyspacectl history --decode mykey`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			key, err := f.key(args[0])
			if err != nil {
				return err
			}
			return runHistory(c.Context(), f, key, decode)
		},
	}
	addDecode(c, &decode)
	return c
}

func historyFields(decode bool) render.Fields {
	fields := render.Fields{
		Shown:  []string{"version", "state", "value", "size", "expires_at"},
		Hidden: []string{"key", "sequence", "tombstone", "live"},
	}
	if decode {
		fields.Shown[2] = "decoded"
		fields.Hidden = append(fields.Hidden, "shape", "segments", "form", "notes", "value")
	}
	return fields
}

func runHistory(ctx context.Context, f *Factory, key string, decode bool) error {
	out, err := f.printer(historyFields(decode))
	if err != nil {
		return err
	}
	store, err := f.opaque(reads)
	if err != nil {
		return err
	}
	var damaged damage
	newest := true
	for v, err := range store.Versions(ctx, key) {
		if err != nil {
			return stopped(out, err)
		}
		out.SetNow(v.Now)
		if v.Err != nil {
			damaged.add(f, v.Err)
		} else if err := out.Row(versionRecord{v, newest, decode}); err != nil {
			return err
		}
		newest = false
	}
	if newest {
		return storeerr.New(storeerr.NotFound, "key %q has no row", key)
	}
	if err := out.End(); err != nil {
		return err
	}
	return damaged.err()
}

// versionRecord is one version of a row.
type versionRecord struct {
	opaque.Version
	newest bool
	decode bool
}

func (v versionRecord) Record(r *render.Record) {
	r.Bytes("key", v.Key)
	r.Bytes("version", v.Member.Version)
	r.Text("state", v.state())
	if v.decode {
		recordKeyShape(r, v.Key)
		if !v.Tombstone {
			recordValueShape(r, v.Key, v.Value)
		}
	}
	r.Value("value", v.Value)
	r.Size("size", int64(len(v.Value)))
	r.Expiry("expires_at", v.ExpiresAt)
	r.Int("sequence", v.Sequence)
	r.Bool("tombstone", v.Tombstone)
	r.Bool("live", v.Live)
}

// state is one word for what the version is now.
func (v versionRecord) state() string {
	switch {
	case v.Tombstone:
		return "tombstone"
	case !v.LiveAt(v.Now):
		return "expired"
	case !v.newest:
		return "replaced"
	}
	return "live"
}
