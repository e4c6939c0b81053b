package opaque

import (
	"context"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Page is a bounded part of a scan.
type Page struct {
	Snapshot Snapshot
	Rows     []Row
	Damaged  []error // one a damaged row, each with a *DamagedRow
	Next     *Cursor // where the next page starts; nil behind the last page
}

// Page reads one page: at most PageSize rows and MaxPageBytes, but always the
// first row. It may hold no row and yet not be the last. The snapshot that the
// first page opens stays open for SnapshotTTL; the last page closes it. The
// errors are those of Scan, and a failed first page closes its snapshot.
func (s *Store) Page(ctx context.Context, o ScanOptions) (*Page, error) {
	if o.Live {
		return nil, storeerr.New(storeerr.Invalid, "a live scan has no pages: there is no moment to go on from")
	}
	v, err := s.openView(ctx, o)
	if err != nil {
		return nil, err
	}
	page, err := v.page(ctx)
	if (err != nil && o.Cursor == nil) || (err == nil && page.Next == nil) {
		v.close(ctx)
	}
	return page, err
}

func (v *view) page(ctx context.Context) (*Page, error) {
	// One entry more than the page shows tells whether it is the last.
	keys, err := v.index(ctx, v.pageSize+1)
	if err != nil {
		return nil, err
	}
	last := len(keys) <= v.pageSize
	keys = keys[:min(len(keys), v.pageSize)]
	page := &Page{Snapshot: v.snapshot, Rows: []Row{}}
	if len(keys) == 0 {
		// The empty end of a snapshot that is gone would be no answer.
		return page, v.read(ctx, nil).err
	}
	read := v.read(ctx, keys)
	if read.err != nil {
		return nil, read.err
	}
	size := 0
	looked := ""
	for i, member := range read.members {
		row, isLive, err := v.row(keys[i], member, read.now)
		if err != nil {
			page.Damaged = append(page.Damaged, err)
		}
		if isLive {
			size += len(row.Key) + len(row.Value) + len(row.Version) + rowOverhead
			if size > MaxPageBytes && len(page.Rows) > 0 {
				page.Next = &Cursor{SnapshotID: v.snapshot.ID, After: looked}
				return page, nil
			}
			page.Rows = append(page.Rows, row)
		}
		looked = keys[i]
	}
	if !last || len(read.members) < len(keys) {
		page.Next = &Cursor{SnapshotID: v.snapshot.ID, After: looked}
	}
	return page, nil
}
