// The bookkeeping of the versioned store: its fixed keys and its counter.

package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"
)

// bookkeeping looks at the types and TTLs of the fixed keys.
func (v *opaqueVerifier) bookkeeping(ctx context.Context) error {
	fixed := []struct{ key, kind string }{
		{v.keys.Index(), "zset"}, {v.keys.Map(), "hash"}, {v.keys.Cleanup(), "zset"},
		{v.keys.Sequence(), "string"}, {v.keys.SnapshotExpiry(), "zset"}, {v.keys.SnapshotBoundary(), "zset"},
	}
	kinds, ttls := make([]*redis.StatusCmd, len(fixed)), make([]*redis.DurationCmd, len(fixed))
	_, err := v.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, f := range fixed {
			kinds[i], ttls[i] = p.Type(ctx, f.key), p.PTTL(ctx, f.key)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, f := range fixed {
		if kind := kinds[i].Val(); kind != "none" && kind != f.kind {
			finding := v.finding(OpaqueType, f.key, "", "a "+f.kind, "a %s", kind)
			err = v.found(finding.mended(v.script("opaque_repair_type", []string{f.key}, f.kind)))
		}
		if ttl := ttls[i].Val(); ttl >= 0 && err == nil {
			err = v.found(v.finding(OpaqueTTL, f.key, "", "no TTL", "it vanishes in %s", ttl).mended(v.persist(f.key)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sample tells whether most rows are of the layout without a format tag. Its
// drivers live well with them, so that nothing of it is put aside.
func (v *opaqueVerifier) sample(ctx context.Context) error {
	const size = 64
	keys, err := v.rdb.ZRandMember(ctx, v.keys.Index(), size).Result()
	if isWrongType(err) || len(keys) == 0 && err == nil {
		return nil
	}
	if err != nil {
		return err
	}
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = v.keys.Row(key)
	}
	rows, err := v.readRows(ctx, names)
	if err != nil {
		return err
	}
	older := 0
	for _, r := range rows {
		if slices.ContainsFunc(r.versions, func(z version) bool { return z.err != nil && z.first == olderTag }) {
			older++
		}
	}
	v.older = 2*older > len(rows)
	return nil
}

// note remembers the highest score of the versions that decode.
func (v *opaqueVerifier) note(r *row) {
	for _, z := range r.versions {
		if z.err == nil && z.score > v.top {
			v.top, v.topRow, v.topKey = z.score, r.redisKey, r.key
		}
	}
}

// counter holds the counter against the highest score of any row. It only
// grows, so that it is enough to read it last.
func (v *opaqueVerifier) counter(ctx context.Context) error {
	if v.topRow == "" {
		return nil
	}
	r, err := v.read(ctx, v.topRow, v.topKey)
	if err != nil || r.counter.unknown {
		return err
	}
	above := fmt.Sprintf("the row %s has score %s", v.topRow, formatScore(v.top))
	f := func(code Code, found string) error {
		f := v.finding(code, v.keys.Sequence(), v.topKey, "at least "+formatScore(v.top)+": "+above, "%s", found)
		return v.found(f.mended(v.script("opaque_repair_counter", []string{v.keys.Sequence(), v.topRow, v.keys.SnapshotBoundary()})))
	}
	counter, ok := parseCounter(r.counter)
	switch {
	case !r.counter.present:
		return f(OpaqueCounterMissing, "none")
	case !ok:
		return f(OpaqueCounterInvalid, fmt.Sprintf("%q", r.counter.text))
	case float64(counter) < v.top:
		return f(OpaqueCounterBehind, r.counter.text)
	}
	return nil
}

// isWrongType tells a reply that a key is of another type from other errors.
func isWrongType(err error) bool { return redis.HasErrorPrefix(err, "WRONGTYPE") }
