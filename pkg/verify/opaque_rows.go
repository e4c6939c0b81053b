// The rows of the versioned store: all that the server has, named by something
// or not, and before them those that poison the store.

package verify

import (
	"context"
	"encoding/hex"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/servers"
)

// poison looks at the rows that are due for collection, before anything else:
// one that does not decode stops all applications.
func (v *opaqueVerifier) poison(ctx context.Context) error {
	return v.scan(ctx, v.rdb.ZScan, v.keys.Cleanup(), func(entries []string) error {
		now, err := v.rdb.Time(ctx).Result()
		if err != nil {
			return err
		}
		var keys, names []string
		for i := 0; i+1 < len(entries); i += 2 {
			if parseScore(entries[i+1]).score <= float64(now.UnixMilli()) {
				keys, names = append(keys, entries[i]), append(names, v.keys.Row(entries[i]))
			}
		}
		rows, err := v.readRows(ctx, names)
		if err != nil {
			return err
		}
		for i, r := range rows {
			if r.kind == "zset" && r.versions[0].err == nil || r.kind == "none" {
				continue
			}
			if err := v.lookForPoison(ctx, names[i], keys[i]); err != nil {
				return err
			}
		}
		v.looked(len(entries) / 2)
		return nil
	})
}

// lookForPoison hands on only what poisons the store: the rest is not urgent.
func (v *opaqueVerifier) lookForPoison(ctx context.Context, redisKey, key string) error {
	r, err := v.read(ctx, redisKey, key)
	if err != nil {
		return err
	}
	for _, f := range v.judge(r) {
		if f.Code == OpaquePoisonRow {
			return v.found(f)
		}
	}
	return nil
}

// keyspace goes through all keys that begin as the store's do.
func (v *opaqueVerifier) keyspace(ctx context.Context) error {
	return servers.Keys(ctx, v.rdb, v.domain(), v.page)
}

// page looks at keys by what their names say they are.
func (v *opaqueVerifier) page(ctx context.Context, keys []string) error {
	var rows, snapshots []string
	for _, key := range keys {
		name := keyspace.Identify(key)
		if name.Store != keyspace.Opaque || name.Layout != keyspace.Current || name.Prefix != v.prefix {
			continue
		}
		var err error
		switch name.Role {
		case keyspace.Row:
			rows = append(rows, key)
		case keyspace.Snapshot:
			snapshots = append(snapshots, name.SnapshotID)
		case keyspace.Quarantine:
			err = v.lookAtQuarantine(ctx, key)
		case keyspace.Unknown:
			err = v.found(v.finding(OpaqueUnknownKey, key, "", "a key of the store", "a name that it does not use"))
		}
		if err != nil {
			return err
		}
	}
	if err := v.lookAtSnapshots(ctx, snapshots); err != nil {
		return err
	}
	return v.lookAtRows(ctx, rows)
}

// lookAtQuarantine tells of members that were put aside. They must last until
// somebody has looked at them.
func (v *opaqueVerifier) lookAtQuarantine(ctx context.Context, key string) error {
	var kind *redis.StatusCmd
	var ttl *redis.DurationCmd
	var count *redis.IntCmd
	var newest *redis.ZSliceCmd
	_, err := v.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		kind, ttl, count = p.Type(ctx, key), p.PTTL(ctx, key), p.ZCard(ctx, key)
		newest = p.ZRevRangeWithScores(ctx, key, 0, 0)
		return nil
	})
	if err != nil && !isWrongType(err) {
		return err
	}
	for _, z := range newest.Val() {
		v.note(&row{redisKey: key, versions: []version{{score: z.Score}}})
	}
	f := v.finding(OpaqueQuarantine, key, "", "nothing put aside", "%d members", count.Val())
	if kind.Val() != "zset" {
		f.Found = "a row that is a " + kind.Val()
	}
	err = v.found(f)
	if err == nil && ttl.Val() >= 0 {
		err = v.found(v.finding(OpaqueTTL, key, "", "no TTL", "it vanishes in %s", ttl.Val()).mended(v.persist(key)))
	}
	return err
}

// lookAtRows reads rows and what the bookkeeping has on them, and looks again
// at those with which something seems wrong.
func (v *opaqueVerifier) lookAtRows(ctx context.Context, names []string) error {
	rows, err := v.readRows(ctx, names)
	if err != nil {
		return err
	}
	named := rows[:0]
	for _, r := range rows {
		if r.kind == "none" {
			continue // it went meanwhile; what names it comes up in the walks
		}
		v.rows++
		v.note(r)
		if r.key = v.owner(r); r.key != "" {
			named = append(named, r)
		} else if err := v.addNameless(ctx, r.redisKey); err != nil {
			return err
		}
	}
	if err := v.readEntries(ctx, named); err != nil {
		return err
	}
	for _, r := range named {
		if len(v.judge(r)) > 0 || len(r.versions) >= versionsAtOnce {
			if err := v.look(ctx, r.redisKey, r.key); err != nil {
				return err
			}
		}
	}
	v.looked(len(names))
	return nil
}

// readRows reads rows as they are named, at most versionsAtOnce versions of
// each: a row that does not fit into one reply with the others comes in the
// next.
func (v *opaqueVerifier) readRows(ctx context.Context, names []string) ([]*row, error) {
	rows := make([]*row, 0, len(names))
	for len(rows) < len(names) {
		left := names[len(rows):]
		reply, err := luascripts.Must("opaque_verify_rows").Run(ctx, v.rdb, left, versionsAtOnce, bytesAtOnce).Slice()
		if err != nil {
			return nil, err
		}
		now := parseInt(reply[0])
		for i, one := range reply[1:] {
			r := &row{redisKey: left[i], now: now}
			r.take(one.([]any))
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// readEntries reads what the bookkeeping has on rows, after them.
func (v *opaqueVerifier) readEntries(ctx context.Context, rows []*row) error {
	if len(rows) == 0 {
		return nil
	}
	keys := make([]string, len(rows))
	for i, r := range rows {
		keys[i] = r.key
	}
	var index, mapped, due, counter *redis.Cmd
	_, err := v.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		index, mapped, due = p.Do(ctx, command("ZMSCORE", v.keys.Index(), keys)...),
			p.Do(ctx, command("HMGET", v.keys.Map(), keys)...), p.Do(ctx, command("ZMSCORE", v.keys.Cleanup(), keys)...)
		counter = p.Do(ctx, "GET", v.keys.Sequence())
		return nil
	})
	if err != nil && !isWrongType(err) && !isNil(err) {
		return err
	}
	for i, r := range rows {
		r.index, r.mapped, r.due = scoreAt(index, i), entryAt(mapped, i), scoreAt(due, i)
		r.counter = parseEntry(counter.Val())
	}
	return nil
}

func command(name, key string, members []string) []any {
	args := make([]any, 0, len(members)+2)
	args = append(args, name, key)
	for _, m := range members {
		args = append(args, m)
	}
	return args
}

func entryAt(cmd *redis.Cmd, i int) entry {
	if all, ok := cmd.Val().([]any); ok {
		return parseEntry(all[i])
	}
	return entry{unknown: true}
}

func scoreAt(cmd *redis.Cmd, i int) entry {
	if all, ok := cmd.Val().([]any); ok {
		return parseScore(all[i])
	}
	return entry{unknown: true}
}

// maxNameless bounds the rows whose key is not known yet.
const maxNameless = 1 << 16

// addNameless keeps a row whose versions do not tell its key until a walk
// through the bookkeeping comes to a key that leads to it.
func (v *opaqueVerifier) addNameless(ctx context.Context, redisKey string) error {
	var sum [32]byte
	// The name was identified: it ends in 64 digits.
	_, _ = hex.Decode(sum[:], []byte(redisKey[len(redisKey)-64:]))
	if len(v.nameless) >= maxNameless {
		return v.look(ctx, redisKey, "")
	}
	v.nameless[sum] = struct{}{}
	return nil
}
