// One step of a walk: the names of some keys, and what decides between the
// readings of those that are not certain.

package keyspace

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// pageKey is a key that a walk came by.
type pageKey struct {
	Name
	key      string
	readings []Name // more than one, or none that is certain
	tally    *tally
	role     *roleTally
}

type page struct{ keys []pageKey }

func newPage(keys []string) page {
	p := page{make([]pageKey, len(keys))}
	for i, key := range keys {
		k := &p.keys[i]
		k.key = key
		switch readings := Readings(key); {
		case len(readings) == 0:
		case readings[0].Certain:
			k.Name = readings[0]
		default:
			k.readings = readings
		}
	}
	return p
}

// facts are what confirms a layout without a mark.
type facts struct {
	kind *redis.StatusCmd
	ttl  *redis.DurationCmd
	row  *redis.SliceCmd
}

// settle decides what the keys without a mark are. Those that nothing can be
// learned about stay foreign.
func (p page) settle(ctx context.Context, server redis.Cmdable) error {
	learned := map[*pageKey]*facts{}
	err := p.ask(ctx, server, func(pipe redis.Pipeliner, k *pageKey) {
		if len(k.readings) > 0 {
			learned[k] = &facts{kind: pipe.Type(ctx, k.key), ttl: pipe.PTTL(ctx, k.key)}
		}
	})
	if err != nil || len(learned) == 0 {
		return err
	}
	err = p.ask(ctx, server, func(pipe redis.Pipeliner, k *pageKey) {
		if f := learned[k]; f != nil && f.kind.Val() == "hash" {
			f.row = pipe.HMGet(ctx, k.key, "version", "expiresAtMs")
		}
	})
	for k, f := range learned {
		for _, reading := range k.readings {
			if k.Store == Foreign && f.confirm(reading) {
				k.Name = reading
			}
		}
	}
	return err
}

// confirm tells whether a key can be what its name says: blobs have a time to
// live, and tagless rows a version.
func (f *facts) confirm(n Name) bool {
	switch {
	case f.kind.Val() != n.Type():
		return false
	case n.Role == BlobValue:
		return f.ttl.Val() > 0
	case n.Role == Record:
		return f.row != nil && len(f.row.Val()) == 2 && f.row.Val()[0] != nil && f.row.Val()[1] == nil
	}
	return true
}

// ask sends what each key needs in one round trip. What the server refuses of
// it stays without an answer.
func (p page) ask(ctx context.Context, server redis.Cmdable, what func(redis.Pipeliner, *pageKey)) error {
	_, err := server.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i := range p.keys {
			what(pipe, &p.keys[i])
		}
		return nil
	})
	if err != nil && !replied(err) {
		return err
	}
	return nil
}
