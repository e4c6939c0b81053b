package opaque

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// ScanOptions says what a scan reads.
type ScanOptions struct {
	// Prefix bounds the keys, at most MaxPrefixBytes.
	Prefix string
	// Cursor goes on where a page stopped. Its snapshot must be one for Prefix.
	Cursor *Cursor
	// CursorPrefix takes the prefix of the cursor's snapshot in place of Prefix.
	CursorPrefix bool
	// PageSize is how many index entries a round trip looks at, 1 to
	// MaxPageRows; 0 is MaxPageRows.
	PageSize int
	// Live reads each row as it is when it is reached, and opens no snapshot.
	Live bool
	// Tombstones yields deleted rows too, as long as they are not collected.
	Tombstones bool
	// MaxAge is how long the scan keeps its snapshot open; 0 is
	// DefaultSnapshotMaxAge. An open snapshot holds back collection for all
	// drivers, so a scan that stalls must not hold it for ever.
	MaxAge time.Duration
	// Opened, if not nil, is told of the snapshot before the first row.
	Opened func(Snapshot)

	// renewEvery is how often the snapshot is renewed; tests shorten it.
	renewEvery time.Duration
}

// DefaultSnapshotMaxAge is how long a scan keeps its snapshot open by itself.
const DefaultSnapshotMaxAge = 10 * time.Minute

// Scan yields the live rows under a prefix in byte order of their keys, all of
// one moment unless Live is set. It keeps its snapshot open while it reads and
// closes it when it ends, whichever way.
//
// A row that is damaged is yielded as an error with a *DamagedRow in its
// chain, and the scan goes on. Any other error ends it: storeerr.Expired when
// the snapshot is gone or reached its age limit, and those of the connection.
func (s *Store) Scan(ctx context.Context, o ScanOptions) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		v, err := s.openView(ctx, o)
		if err != nil {
			yield(Row{}, err)
			return
		}
		// At once, not when a read that hangs comes back.
		defer context.AfterFunc(ctx, func() { v.close(ctx) })()
		ctx, cancel := context.WithCancelCause(ctx)
		kept := make(chan struct{})
		go func() {
			defer close(kept)
			v.keepOpen(ctx, cancel, o)
		}()
		defer func() {
			cancel(nil)
			<-kept
			v.close(ctx)
		}()
		if o.Opened != nil && !v.live() {
			o.Opened(v.snapshot)
		}
		v.rows(ctx, yield)
	}
}

// rows yields the live rows of the view, and tombstones if asked for.
func (v *view) rows(ctx context.Context, yield func(Row, error) bool) {
	err := v.walk(ctx, func(key string, member any, now int64) bool {
		row, isLive, err := v.row(key, member, now)
		wanted := isLive || v.tombstones && row.Tombstone || err != nil
		return !wanted || yield(row, err)
	})
	if err != nil {
		yield(Row{}, err)
	}
}

// walk hands over what is read of each key of the view, page after page, the
// next ones being read meanwhile, until take returns false. The error is what
// ended it before.
func (v *view) walk(ctx context.Context, take func(key string, member any, now int64) bool) error {
	within, stop := context.WithCancel(ctx)
	pages := v.readAhead(within)
	defer func() {
		stop()
		for range pages { // waits until the reader has left
		}
	}()
	for page := range pages {
		<-page.ready
		if more, err := v.takePage(within, page, take); err != nil || !more {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return v.cause(ctx, fmt.Errorf("scanning: %w", err))
	}
	return nil
}

// takePage hands over a page, and reads the rest of one that was cut for its
// size.
func (v *view) takePage(ctx context.Context, page *pageRead, take func(string, any, int64) bool) (more bool, err error) {
	for {
		if page.err != nil {
			return false, v.cause(ctx, page.err)
		}
		for i, member := range page.members {
			if !take(page.keys[i], member, page.now) {
				return false, nil
			}
		}
		rest := page.keys[len(page.members):]
		if len(rest) == 0 {
			return true, nil
		}
		page = v.read(ctx, rest)
	}
}

// keepOpen renews the snapshot until ctx ends, and ends ctx when the snapshot
// is gone or has reached its age limit.
func (v *view) keepOpen(ctx context.Context, cancel context.CancelCauseFunc, o ScanOptions) {
	if v.live() {
		return
	}
	every := o.renewEvery
	if every == 0 {
		every = SnapshotTTL / 3
	}
	maxAge := o.MaxAge
	if maxAge == 0 {
		maxAge = DefaultSnapshotMaxAge
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	limit := time.NewTimer(maxAge)
	defer limit.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-limit.C:
			cancel(storeerr.New(storeerr.Expired, "the scan's snapshot has reached its age limit of %s", maxAge).
				WithHint("raise --snapshot-max-age, or scan with --live"))
			// Now, not when a consumer that stalls comes back.
			v.close(ctx)
			return
		case <-tick.C:
			// A renewal that failed on the way is tried again at the next
			// tick; the pages themselves find out whether the snapshot is there.
			if err := v.store.RenewSnapshot(ctx, v.snapshot.ID); storeerr.KindOf(err) == storeerr.Expired {
				cancel(err)
				return
			}
		}
	}
}

// cause is why a page failed: the reason for which the scan was ended, if
// that came first.
func (v *view) cause(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return err
	case storeerr.KindOf(cause) == storeerr.Expired:
		return cause
	case storeerr.KindOf(err) == storeerr.Expired:
		return fmt.Errorf("scanning: %w", ctx.Err()) // which closed the snapshot
	}
	return err
}

// close ends the view's snapshot, if it has one. It returns when that is done,
// whoever does it.
func (v *view) close(ctx context.Context) {
	if !v.live() {
		v.closing.Do(func() { v.store.abandon(ctx, v.snapshot.ID) })
	}
}
