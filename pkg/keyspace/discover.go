// Discovery: which stores a Redis holds, found by walking all its keys.

package keyspace

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/servers"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// DiscoverOptions bound a Discover.
type DiscoverOptions struct {
	Match    string             // only keys that match this glob, as SCAN takes it; empty is all
	Sample   int                // keys of each role and store to measure; 0 measures none
	MaxKeys  int64              // stop after looking at so many keys; 0 is all
	Progress func(looked int64) // called after each step, or nil
}

// Found is a store that a Redis holds: all keys of one layout under a prefix,
// in the warm store those of one segment.
type Found struct {
	Store     Store // Foreign for everything else
	Layout    Layout
	Certain   bool // the names tell; else only types and times to live confirm the layout
	Prefix    string
	Namespace *string // of a warm segment; nil is the absent namespace
	Segment   string

	Keys    int64 // in Redis
	Records int64 // of them rows, blobs or chunks
	// Bytes is the memory that the keys take, by MEMORY USAGE of Measured of
	// them; that of the others is taken for the same in the mean. It is -1
	// where nothing was measured.
	Bytes    int64
	Measured int64
	// Untagged says how many of the Sniffed rows are of v3 untagged: they
	// share their keys with those of the current layout.
	Untagged, Sniffed int64

	// Of a versioned store of the current layout; Now is 0 elsewhere.
	Now            int64 // the server's time in ms
	Snapshots      int64 // that are open
	OldestSnapshot int64 // when the oldest of them was opened; 0 where none is, or it does not say
	Due            int64 // keys that wait to be collected
}

// RowLayout is the Layout, told by the rows that were sniffed where the names
// do not tell: Untagged, or Mixed where some are and some are not.
func (f Found) RowLayout() Layout {
	switch {
	case f.Untagged == 0:
		return f.Layout
	case f.Untagged == f.Sniffed:
		return Untagged
	}
	return Mixed
}

// Discovery is what a walk found. Keys come as SCAN returns them, so while the
// server makes its table of keys larger or smaller, one may be counted twice.
type Discovery struct {
	Stores  []Found // sorted by store, prefix, layout, namespace and segment; Foreign last
	Looked  int64   // keys looked at
	Stopped bool    // at MaxKeys, with keys left
	// Crowded: more prefixes than are told apart looked like a layout without
	// a mark. The keys of the others are counted as foreign.
	Crowded bool
	// Unmeasured is why nothing, or not everything, was measured: the user may
	// not run MEMORY USAGE, or the server does not know it. Nil is no reason.
	Unmeasured error
	Damaged    []error // storeerr.Integrity: stores whose bookkeeping does not read
}

// scanCount is how many keys a SCAN looks at in one call.
const scanCount = 1000

// Discover walks all keys of all masters in bounded steps, and tells the
// stores that they belong to. It remembers some hundred bytes a store, and
// nothing of a key. The current versioned stores that it finds are then asked
// for their snapshots and for what is due for collection.
func Discover(ctx context.Context, rdb redis.UniversalClient, o DiscoverOptions) (*Discovery, error) {
	w := walk{options: o}
	w.begin()
	err := servers.InTurn(ctx, rdb, w.server)
	if err != nil && !errors.Is(err, errStop) {
		return nil, storeerr.FromRedis(err, storeerr.Reads, "looking through the keys")
	}
	d := &Discovery{Stores: w.found(), Looked: w.looked, Stopped: w.stopped, Crowded: w.crowded, Unmeasured: w.unmeasured}
	for i := range d.Stores {
		f := &d.Stores[i]
		if f.Store != Opaque || f.Layout != Current {
			continue
		}
		err := f.readBookkeeping(ctx, rdb)
		if errors.Is(err, storeerr.Integrity) {
			d.Damaged = append(d.Damaged, err)
		} else if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// errStop says that enough keys were looked at.
var errStop = errors.New("stop")

// walk goes through the keys of one server after the other.
type walk struct {
	options    DiscoverOptions
	tallies    map[identity]*tally
	loose      int // tallies of layouts without a mark
	servers    map[string]bool
	looked     int64
	stopped    bool
	crowded    bool
	unmeasured error
}

func (w *walk) begin() {
	w.tallies = map[identity]*tally{}
	w.servers = map[string]bool{}
	w.loose, w.looked, w.crowded = 0, 0, false
}

// server looks through one server. That a server comes a second time means
// that slots moved, and everything is looked through anew.
func (w *walk) server(ctx context.Context, server redis.Cmdable) error {
	address := ""
	if node, ok := server.(*redis.Client); ok {
		address = node.Options().Addr
	}
	if w.servers[address] {
		w.begin()
	}
	w.servers[address] = true
	for cursor := uint64(0); ; {
		keys, next, err := server.Scan(ctx, cursor, w.options.Match, scanCount).Result()
		if err == nil {
			err = w.page(ctx, server, keys)
		}
		if err != nil || next == 0 {
			return err
		}
		cursor = next
	}
}

func (w *walk) page(ctx context.Context, server redis.Cmdable, keys []string) error {
	if limit := w.options.MaxKeys; limit > 0 && w.looked+int64(len(keys)) > limit {
		keys = keys[:limit-w.looked]
		w.stopped = true
	}
	p := newPage(keys)
	if err := p.settle(ctx, server); err != nil {
		return err
	}
	for i := range p.keys {
		w.count(&p.keys[i])
	}
	if err := w.measure(ctx, server, p.keys); err != nil {
		return err
	}
	w.looked += int64(len(keys))
	if w.options.Progress != nil {
		w.options.Progress(w.looked)
	}
	if w.stopped {
		return errStop
	}
	return nil
}

// readBookkeeping asks a versioned store for what is not in the names of its
// keys.
func (f *Found) readBookkeeping(ctx context.Context, rdb redis.UniversalClient) error {
	store, err := opaque.New(rdb, f.Prefix)
	if err != nil {
		return err
	}
	books, err := store.Bookkeeping(ctx)
	if err != nil {
		return err
	}
	_, states, err := store.Snapshots(ctx)
	if err != nil {
		return err
	}
	f.Now, f.Due = books.Now, books.Due
	for _, s := range states {
		if s.Ended || s.Boundary == "" {
			continue
		}
		f.Snapshots++
		if s.Now > 0 && (f.OldestSnapshot == 0 || s.Now < f.OldestSnapshot) {
			f.OldestSnapshot = s.Now
		}
	}
	return nil
}

func compare(a, b Found) int {
	return cmp.Or(
		slices.Index(order, a.Store)-slices.Index(order, b.Store),
		strings.Compare(a.Prefix, b.Prefix),
		strings.Compare(string(a.Layout), string(b.Layout)),
		strings.Compare(text(a.Namespace), text(b.Namespace)),
		strings.Compare(a.Segment, b.Segment),
	)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
