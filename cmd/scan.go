package cmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/internal/duration"
	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

type scanOptions struct {
	opaque.ScanOptions
	limit    int64
	keysOnly bool
	decode   bool
	count    bool
	page     bool
	cursor   string
	maxAge   duration.Value
}

func newScanCmd(f *Factory) *cobra.Command {
	o := scanOptions{maxAge: duration.Value(opaque.DefaultSnapshotMaxAge)}
	c := &cobra.Command{
		Use:     "scan [PREFIX]",
		Aliases: []string{"ls"},
		Short:   "List the rows under a prefix at one moment",
		Long: `List the rows under a prefix of the versioned store, in byte order of their
keys, all of one moment.

The scan opens a snapshot, keeps it open while it reads, and closes it however
it ends. An open snapshot holds back collection for every application: --live
opens none, and reads each row as it is when it is reached.

--decode says what keys and values look like and shows values decoded, as inspect
does.

With --page one page is printed, and the cursor for the next on the standard
error (in JSON and YAML beside the rows); the snapshot stays open for a minute.`,
		Example: `  keyspacectl scan sessions/
  keyspacectl scan -o ndjson | jq .key
  keyspacectl scan --count sessions/
  keyspacectl scan --decode -o ndjson | jq -c 'select(.shape == "owner lease") | .decoded'
  keyspacectl scan --key-format escaped 'mesh-node\0eu\0'
  keyspacectl scan --page --page-size 100 -o json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(c, f, args); err != nil {
				return err
			}
			if o.page {
				return o.runPage(c.Context(), f)
			}
			return o.run(c.Context(), f)
		},
	}
	c.Flags().Int64Var(&o.limit, "limit", 0, "stop after this `NUMBER` of rows")
	c.Flags().IntVar(&o.PageSize, "page-size", opaque.MaxPageRows, "look at this `NUMBER` of keys at a time, 1 to 1000")
	c.Flags().BoolVar(&o.keysOnly, "keys-only", false, "show keys alone")
	addDecode(c, &o.decode)
	c.Flags().BoolVar(&o.count, "count", false, "print only how many rows there are")
	c.Flags().BoolVar(&o.page, "page", false, "print one page and the cursor for the next")
	c.Flags().StringVar(&o.cursor, "cursor", "", "go on from this `CURSOR`, with its snapshot's prefix unless PREFIX is given")
	c.Flags().BoolVar(&o.Live, "live", false, "open no snapshot; read each row when it is reached")
	c.Flags().Var(&o.maxAge, "snapshot-max-age", "give up when the snapshot has been open for this `DURATION`")
	c.MarkFlagsMutuallyExclusive("live", "page")
	c.MarkFlagsMutuallyExclusive("live", "cursor")
	c.MarkFlagsMutuallyExclusive("live", "snapshot-max-age")
	c.MarkFlagsMutuallyExclusive("page", "snapshot-max-age")
	c.MarkFlagsMutuallyExclusive("page", "limit")
	c.MarkFlagsMutuallyExclusive("page", "count")
	c.MarkFlagsMutuallyExclusive("count", "keys-only", "decode")
	return c
}

func (o *scanOptions) check(c *cobra.Command, f *Factory, args []string) error {
	if c.Flags().Changed("limit") && o.limit < 1 {
		return storeerr.New(storeerr.Invalid, "--limit is at least 1, not %d", o.limit)
	}
	if o.PageSize < 1 {
		return storeerr.New(storeerr.Invalid, "--page-size is 1 to %d, not %d", opaque.MaxPageRows, o.PageSize)
	}
	o.MaxAge = time.Duration(o.maxAge)
	if c.Flags().Changed("cursor") {
		cursor, err := opaque.ParseCursor(o.cursor)
		if err != nil {
			return err
		}
		o.Cursor, o.CursorPrefix = &cursor, len(args) == 0
	}
	if len(args) == 0 {
		return nil
	}
	var err error
	o.Prefix, err = f.key(args[0])
	return err
}

func (o *scanOptions) fields() render.Fields {
	switch {
	case o.count:
		return countFields()
	case o.keysOnly:
		return keyFields()
	case o.decode:
		return decodedFields()
	}
	fields := rowFields()
	fields.Raw = ""
	return fields
}

func (o *scanOptions) record(row opaque.Row) render.Recorder {
	if o.keysOnly {
		return keyRecord(row.Key)
	}
	return rowRecorder(row, o.decode)
}

func (o *scanOptions) run(ctx context.Context, f *Factory) error {
	out, err := f.printer(o.fields())
	if err != nil {
		return err
	}
	store, err := f.opaque(reads)
	if err != nil {
		return err
	}
	progress := f.progress("rows")
	defer progress.Stop()
	o.Opened = func(s opaque.Snapshot) { out.SetNow(s.Now) }
	var damaged damage
	var rows int64
	for row, err := range store.Scan(ctx, o.ScanOptions) {
		if err != nil && damaged.skip(f, err) {
			continue
		}
		if err == nil && !o.count {
			err = out.Row(o.record(row))
		}
		if err != nil {
			return stopped(out, err)
		}
		rows++
		progress.Add(1)
		if rows == o.limit {
			break
		}
		if rows%int64(o.PageSize) == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
	progress.Stop()
	if o.count {
		err = out.One(countRecord(rows))
	} else {
		err = out.End()
	}
	if err != nil {
		return err
	}
	return damaged.err()
}
