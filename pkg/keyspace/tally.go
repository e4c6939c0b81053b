// Counting and measuring what a walk comes by.

package keyspace

import (
	"context"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

// maxLoose bounds the prefixes of layouts without a mark: every foreign key
// "…:blob:…" may bring one of its own.
const maxLoose = 1000

// identity is what one Found is told from others by.
type identity struct {
	store     Store
	layout    Layout
	prefix    string
	namespace string
	named     bool // it has a namespace
	segment   string
}

func identityOf(n Name) identity {
	id := identity{store: n.Store, layout: n.Layout, prefix: n.Prefix, segment: n.Segment}
	if n.Namespace != nil {
		id.namespace, id.named = *n.Namespace, true
	}
	return id
}

// tally is a store while its keys are counted.
type tally struct {
	certain           bool
	untagged, sniffed int64
	roles             map[Role]*roleTally
}

// roleTally counts the keys of one role, which are of about the same size.
type roleTally struct{ keys, measured, bytes int64 }

// count adds a key to the tally of its store.
func (w *walk) count(k *pageKey) {
	id := identityOf(k.Name)
	t := w.tallies[id]
	if t == nil && k.Store != Foreign && !k.Certain && w.loose == maxLoose {
		w.crowded = true
		k.Name, id = Name{}, identity{}
		t = w.tallies[id]
	}
	if t == nil {
		t = &tally{certain: k.Certain, roles: map[Role]*roleTally{}}
		w.tallies[id] = t
		if k.Store != Foreign && !k.Certain {
			w.loose++
		}
	}
	k.tally, k.role = t, t.roles[k.Role]
	if k.role == nil {
		k.role = &roleTally{}
		t.roles[k.Role] = k.role
	}
	k.role.keys++
}

// The rows of which a walk reads the newest member, to see whether it has a
// format tag: of a store, and in one step, since a member may have 1 MiB.
const (
	maxSniffed = 64
	stepSniffs = 8
)

// measure asks for the memory of some of a page's keys, and for the newest
// member of some rows.
func (w *walk) measure(ctx context.Context, server redis.Cmdable, keys []pageKey) error {
	sizes, members := map[*pageKey]*redis.IntCmd{}, map[*pageKey]*redis.StringSliceCmd{}
	_, err := server.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range keys {
			k := &keys[i]
			if w.unmeasured == nil && k.role.measured < int64(w.options.Sample) {
				k.role.measured++
				sizes[k] = p.MemoryUsage(ctx, k.key)
			}
			if k.Layout == Current && k.Role == Row && len(members) < stepSniffs && k.tally.sniffed < maxSniffed {
				k.tally.sniffed++
				members[k] = p.ZRevRange(ctx, k.key, 0, 0)
			}
		}
		return nil
	})
	if err != nil && !replied(err) {
		return err
	}
	for k, size := range sizes {
		if err := size.Err(); err != nil {
			// The key may be gone, or on its way to another server.
			k.role.measured--
			if !errors.Is(err, redis.Nil) && !moved(err) {
				w.unmeasured = err
			}
			continue
		}
		k.role.bytes += size.Val()
	}
	for k, member := range members {
		if len(member.Val()) == 0 {
			k.tally.sniffed--
		} else if m := member.Val()[0]; m != "" && m[0] == opaque.UntaggedByte {
			k.tally.untagged++
		}
	}
	return nil
}

// replied tells an answer of the server from a failure of the connection.
func replied(err error) bool {
	_, ok := errors.AsType[redis.Error](err)
	return ok
}

func moved(err error) bool {
	return redis.HasErrorPrefix(err, "MOVED") || redis.HasErrorPrefix(err, "ASK") || redis.HasErrorPrefix(err, "TRYAGAIN")
}

// order is that of the stores in a Discovery.
var order = []Store{Opaque, Blob, Warm, Foreign}

// found turns the tallies into what was found.
func (w *walk) found() []Found {
	stores := make([]Found, 0, len(w.tallies))
	for id, t := range w.tallies {
		f := Found{
			Store: id.store, Layout: id.layout, Certain: t.certain, Prefix: id.prefix, Segment: id.segment,
			Untagged: t.untagged, Sniffed: t.sniffed,
		}
		if id.named {
			f.Namespace = &id.namespace
		}
		f.sum(t)
		stores = append(stores, f)
	}
	slices.SortFunc(stores, compare)
	return stores
}

// sum adds up the roles. Where one of them was not measured at all, nothing is
// known of the whole.
func (f *Found) sum(t *tally) {
	known := true
	for role, r := range t.roles {
		f.Keys += r.keys
		f.Measured += r.measured
		switch role {
		case Row, Record, BlobValue, Chunk:
			f.Records += r.keys
		}
		if r.measured == r.keys {
			f.Bytes += r.bytes
			continue
		}
		if r.measured == 0 {
			known = false
			continue
		}
		f.Bytes += int64(float64(r.bytes) / float64(r.measured) * float64(r.keys))
	}
	if !known {
		f.Bytes = -1
	}
}
