package opaque

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// view reads a range of the index and its rows, at a snapshot or live. It is
// what scans, pages and surveys share.
type view struct {
	store    *Store
	snapshot Snapshot // its ID is empty for a live view
	survey   bool     // read what Survey tells of rows, live
	min, max string   // bounds of the index, as ZRANGEBYLEX takes them
	pageSize int

	tombstones bool // a scan yields deleted rows too

	closing sync.Once
}

// openView checks the options, and opens or resumes the snapshot they ask for.
func (s *Store) openView(ctx context.Context, o ScanOptions) (*view, error) {
	if err := checkPrefix(o.Prefix); err != nil {
		return nil, err
	}
	if o.PageSize == 0 {
		o.PageSize = MaxPageRows
	}
	if err := checkPageSize(o.PageSize); err != nil {
		return nil, err
	}
	if o.Live && o.Cursor != nil {
		return nil, storeerr.New(storeerr.Invalid, "a live scan has no snapshot, so it takes no cursor")
	}
	snapshot := Snapshot{Prefix: o.Prefix, Boundary: newest}
	var err error
	after := ""
	switch {
	case o.Cursor != nil:
		after = o.Cursor.After
		snapshot, err = s.resume(ctx, o.Cursor.SnapshotID)
		if err == nil && !o.CursorPrefix && snapshot.Prefix != o.Prefix {
			err = storeerr.New(storeerr.Expired, "the cursor's snapshot is one for prefix %q, not %q", snapshot.Prefix, o.Prefix)
		}
	case !o.Live:
		snapshot, err = s.OpenSnapshot(ctx, o.Prefix)
		switch kind := storeerr.KindOf(err); kind {
		case storeerr.OutOfMemory, storeerr.ReadOnly, storeerr.Denied:
			err = storeerr.New(kind, "%w", err).WithHint("a scan opens a snapshot, which writes; --live opens none")
		}
	}
	if err != nil {
		return nil, err
	}
	v := &view{store: s, snapshot: snapshot, pageSize: o.PageSize, tombstones: o.Tombstones}
	v.min, v.max = indexRange(snapshot.Prefix, after)
	return v, nil
}

// newest is the boundary of a view without a snapshot.
const newest = "+inf"

func (v *view) live() bool { return v.snapshot.ID == "" }

// indexRange bounds the index by a prefix and by the key that was looked at
// last. That key may lie outside the prefix: other drivers walk the whole
// index.
func indexRange(prefix, after string) (min, max string) {
	switch {
	case after != "" && after >= prefix:
		min = "(" + after
	case prefix != "":
		min = "[" + prefix
	default:
		min = "-"
	}
	if end, ok := successor(prefix); ok {
		return min, "(" + end
	}
	return min, "+"
}

// successor is the first string in byte order behind all that begin with
// prefix. The empty prefix and one of only 0xff bytes have none.
func successor(prefix string) (string, bool) {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			return prefix[:i] + string([]byte{prefix[i] + 1}), true
		}
	}
	return "", false
}

// index reads the next count entries of the index, and moves past them.
func (v *view) index(ctx context.Context, count int) ([]string, error) {
	keys, err := v.store.rdb.ZRangeByLex(ctx, v.store.keys.Index(), &redis.ZRangeBy{Min: v.min, Max: v.max, Count: int64(count)}).Result()
	if isWrongType(err) {
		return nil, storeerr.New(storeerr.Integrity, "the index is no sorted set").AtKey(v.store.keys.Index())
	}
	if err != nil {
		return nil, storeerr.FromRedis(err, storeerr.Reads, "reading the index")
	}
	if len(keys) > 0 {
		v.min = "(" + keys[len(keys)-1]
	}
	return keys, nil
}

// pageRead is one run of rows, read in one step.
type pageRead struct {
	keys    []string
	members []any // one a key, fewer than keys where the size limit cut it
	now     int64
	err     error
	ready   chan struct{} // closed when members and err are set
}

// readAhead sends the pages of the view in order, the rows of two being read
// while the consumer works on one. The channel closes behind the last page,
// behind one with an error, or when ctx ends.
func (v *view) readAhead(ctx context.Context) <-chan *pageRead {
	pages := make(chan *pageRead, 1)
	go func() {
		defer close(pages)
		for {
			keys, err := v.index(ctx, v.pageSize)
			page := &pageRead{keys: keys, err: err, ready: make(chan struct{})}
			go func() {
				defer close(page.ready)
				if err == nil {
					v.readInto(ctx, page, MaxPageBytes)
				}
			}()
			select {
			case pages <- page:
			case <-ctx.Done():
				<-page.ready
				return
			}
			// The last page may be empty. It is read like the others: where the
			// snapshot is gone, so may be the rows that should have followed.
			if err != nil || len(keys) < v.pageSize {
				return
			}
		}
	}()
	return pages
}

// read reads rows of keys, as many as MaxPageBytes holds.
func (v *view) read(ctx context.Context, keys []string) *pageRead {
	page := &pageRead{keys: keys}
	v.readInto(ctx, page, MaxPageBytes)
	return page
}

// readAll reads the rows of all keys at once, however large they are.
func (v *view) readAll(ctx context.Context, keys []string) *pageRead {
	page := &pageRead{keys: keys}
	v.readInto(ctx, page, math.MaxInt64)
	return page
}

// readInto reads by script, not in a transaction: Redis refuses those, reads
// and all, when it is out of memory.
func (v *view) readInto(ctx context.Context, page *pageRead, maxBytes int64) {
	if v.live() && len(page.keys) == 0 {
		return
	}
	if v.survey {
		v.surveyInto(ctx, page, maxBytes)
		return
	}
	reply, err := luascripts.Must("opaque_scan_rows").
		Run(ctx, v.store.rdb, v.rowKeys(page.keys), v.snapshot.ID, v.snapshot.Boundary, maxBytes).Slice()
	switch {
	case err != nil:
		page.err = storeerr.FromRedis(err, storeerr.Reads, "reading rows")
	case reply[0] == "expired":
		page.err = expired(v.snapshot.ID)
	default:
		page.now, page.err = v.moment(reply[1])
		page.members = reply[2:]
	}
}

// moment is the time at which a page's rows are judged.
func (v *view) moment(serverTime any) (int64, error) {
	if !v.live() {
		return v.snapshot.Now, nil
	}
	return parseMilliseconds(fmt.Sprint(serverTime))
}

func (v *view) rowKeys(keys []string) []string {
	names := make([]string, 0, len(keys)+2)
	if !v.live() {
		names = append(names, v.store.keys.SnapshotBoundary(), v.store.keys.Scan(v.snapshot.ID))
	}
	for _, key := range keys {
		names = append(names, v.store.keys.Row(key))
	}
	return names
}

// row judges one member as the script returned it.
func (v *view) row(key string, member any, now int64) (row Row, isLive bool, err error) {
	switch member := member.(type) {
	case nil:
		return Row{}, false, nil
	case string:
		m, err := v.store.decode(key, member)
		if err != nil {
			return Row{Key: key}, false, err
		}
		return m.row(), m.LiveAt(now), nil
	}
	return Row{Key: key}, false, v.store.damaged(key, "it is no sorted set")
}
