package transfer

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"time"

	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// ExportOptions says what an export reads. The zero value reads everything
// that is live, rows at one moment.
type ExportOptions struct {
	archive.Options
	// MaxAge is how long the snapshot of the rows is kept open; 0 is
	// opaque.DefaultSnapshotMaxAge.
	MaxAge time.Duration
	// Began, if not nil, is told the header before the first record.
	Began func(archive.Header)
	// Expect, if not nil, is told of how many more records there will be about,
	// before they come.
	Expect func(more int64)
}

// Export yields the records of a side in a fixed order: rows by the bytes of
// their keys, older versions behind the newer one; blobs by the bytes of their
// references; chunks by namespace, segment and number.
//
// Rows are of one moment, that of a snapshot which is kept open meanwhile,
// unless Live is set. Blobs and chunks are each read when they are reached:
// one that has expired or was deleted by then is left out. The references of
// all blobs are held in memory, to sort them.
//
// What is damaged is yielded as a [*SkippedError] beside a record that says which
// it is, and the export goes on. Any other error ends it.
func Export(ctx context.Context, side Side, o ExportOptions) iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		e := exporter{side: side, o: o, yield: yield}
		if err := e.run(ctx); err != nil && !errors.Is(err, errStop) {
			yield(archive.Record{}, err)
		}
	}
}

// errStop says that the reader has seen enough.
var errStop = errors.New("stop")

type exporter struct {
	side  Side
	o     ExportOptions
	yield func(archive.Record, error) bool
}

func (e *exporter) run(ctx context.Context) error {
	// The snapshot tells the moment, where there is one.
	if e.side.Opaque == nil || e.o.Live {
		now, err := e.side.now(ctx)
		if err != nil {
			return err
		}
		e.begin(now, "")
	}
	if e.side.Opaque != nil {
		if err := e.rows(ctx); err != nil {
			return err
		}
	}
	if e.side.Blob != nil {
		if err := e.blobs(ctx); err != nil {
			return err
		}
	}
	if e.side.Warm != nil {
		return e.chunks(ctx)
	}
	return nil
}

// now is the server's time, in ms since the epoch.
func (s Side) now(ctx context.Context) (int64, error) {
	now, err := s.rdb.Time(ctx).Result()
	if err != nil {
		return 0, storeerr.FromRedis(err, storeerr.Reads, "reading the server's time")
	}
	return now.UnixMilli(), nil
}

func (e *exporter) begin(moment int64, boundary string) {
	if e.o.Began != nil {
		e.o.Began(archive.Header{
			Prefix: e.side.Prefix, Stores: e.side.Stores(), Moment: moment, Boundary: boundary, Options: e.o.Options,
		})
	}
}

// skip hands over the error of one record, of which r says which it is.
func (e *exporter) skip(r archive.Record, err error) error {
	if !e.yield(r, &SkippedError{err}) {
		return errStop
	}
	return nil
}

func (e *exporter) give(r archive.Record) error {
	if !e.yield(r, nil) {
		return errStop
	}
	return nil
}

func (e *exporter) rows(ctx context.Context) error {
	e.expectRows(ctx)
	scan := opaque.ScanOptions{
		Prefix: e.o.Match, Live: e.o.Live, MaxAge: e.o.MaxAge, Tombstones: e.o.Tombstones,
		Opened: func(s opaque.Snapshot) { e.begin(s.Now, s.Boundary) },
	}
	for row, err := range e.side.Opaque.Scan(ctx, scan) {
		switch damaged, ok := errors.AsType[*opaque.DamagedRow](err); {
		case ok:
			err = e.skip(archive.Record{Kind: archive.Row, Key: damaged.Key}, err)
		case err == nil:
			err = e.give(rowRecord(row))
			if err == nil && e.o.History {
				err = e.history(ctx, row)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// expectRows tells how many rows the index names. It is not worth failing for.
func (e *exporter) expectRows(ctx context.Context) {
	if e.o.Expect == nil || e.o.Match != "" {
		return
	}
	if books, err := e.side.Opaque.Bookkeeping(ctx); err == nil {
		e.o.Expect(books.Keys)
	}
}

func (e *exporter) expect(more int64) {
	if e.o.Expect != nil {
		e.o.Expect(more)
	}
}

func rowRecord(row opaque.Row) archive.Record {
	return archive.Record{
		Kind: archive.Row, Key: row.Key, Value: []byte(row.Value), Version: row.Version,
		ExpiresAt: row.ExpiresAt, Tombstone: row.Tombstone,
	}
}

// history yields what a row still holds below the version that was given. What
// is newer than the moment stands above that.
func (e *exporter) history(ctx context.Context, given opaque.Row) error {
	below := false
	for v, err := range e.side.Opaque.Versions(ctx, given.Key) {
		damaged := cmp.Or(err, v.Err)
		switch {
		case errors.As(damaged, new(*opaque.DamagedRow)) && (below || err != nil):
			err = e.skip(archive.Record{Kind: archive.Row, Key: given.Key}, damaged)
		case err != nil:
		case below:
			r := rowRecord(opaque.Row{Key: v.Key, Value: v.Value, Version: v.Member.Version, ExpiresAt: v.ExpiresAt, Tombstone: v.Tombstone})
			r.History = true
			err = e.give(r)
		default:
			below = v.Err == nil && v.Member.Version == given.Version && v.Tombstone == given.Tombstone
		}
		if err != nil {
			return err
		}
	}
	return nil
}
