// The bookkeeping of the versioned store: its fixed keys and its counter.

package verify

import (
	"context"
	"errors"
	"fmt"
	"strconv"

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

// note remembers the highest score of a row. One that does not decode was
// issued as well.
func (v *opaqueVerifier) note(r *row) {
	for _, z := range r.versions {
		if z.score > v.top && isSequence(z.score) {
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
		if atEnd(r.counter.text) {
			return v.found(f)
		}
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

// atEnd tells whether a counter can count no further. It is never lowered.
func atEnd(counter string) bool {
	n, err := strconv.ParseUint(counter, 10, 64)
	return err == nil && n >= 1<<53-1 || errors.Is(err, strconv.ErrRange)
}

// isWrongType tells a reply that a key is of another type from other errors.
func isWrongType(err error) bool { return redis.HasErrorPrefix(err, "WRONGTYPE") }
