// The entries of the versioned store: each that leads to no row, in index, map
// and queue.

package verify

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/redis/go-redis/v9"
)

func (v *opaqueVerifier) walkIndex(ctx context.Context) error {
	return v.scan(ctx, v.rdb.ZScan, v.keys.Index(), func(entries []string) error {
		return v.lookAtEntries(ctx, everySecond(entries))
	})
}

// walkMap looks at the keys that the index does not have.
func (v *opaqueVerifier) walkMap(ctx context.Context) error {
	return v.scan(ctx, v.rdb.HScan, v.keys.Map(), func(entries []string) error {
		return v.lookAtOthers(ctx, everySecond(entries), false)
	})
}

// walkCleanup looks at the keys that neither index nor map have.
func (v *opaqueVerifier) walkCleanup(ctx context.Context) error {
	return v.scan(ctx, v.rdb.ZScan, v.keys.Cleanup(), func(entries []string) error {
		return v.lookAtOthers(ctx, everySecond(entries), true)
	})
}

func everySecond(entries []string) []string {
	keys := make([]string, 0, len(entries)/2)
	for i := 0; i < len(entries); i += 2 {
		keys = append(keys, entries[i])
	}
	return keys
}

// lookAtOthers looks at those keys that no walk before this one came to.
func (v *opaqueVerifier) lookAtOthers(ctx context.Context, keys []string, alsoMap bool) error {
	var index, mapped *redis.Cmd
	_, err := v.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		index = p.Do(ctx, command("ZMSCORE", v.keys.Index(), keys)...)
		if alsoMap {
			mapped = p.Do(ctx, command("HMGET", v.keys.Map(), keys)...)
		}
		return nil
	})
	if err != nil && !isWrongType(err) {
		return err
	}
	var others []string
	for i, key := range keys {
		if !scoreAt(index, i).present && (!alsoMap || !entryAt(mapped, i).present) {
			others = append(others, key)
		}
	}
	v.looked(len(keys) - len(others))
	return v.lookAtEntries(ctx, others)
}

// lookAtEntries looks at the keys that have no row, and at those whose row did
// not tell its key.
func (v *opaqueVerifier) lookAtEntries(ctx context.Context, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = v.keys.Row(key)
	}
	there, err := v.existing(ctx, names)
	if err != nil {
		return err
	}
	for i, key := range keys {
		if there[i] && !v.isNameless(names[i]) {
			continue
		}
		if err := v.look(ctx, names[i], key); err != nil {
			return err
		}
	}
	v.looked(len(keys))
	return nil
}

// existing tells which keys there are. Mostly all are, and one command tells.
func (v *opaqueVerifier) existing(ctx context.Context, names []string) ([]bool, error) {
	there := make([]bool, len(names))
	n, err := v.rdb.Exists(ctx, names...).Result()
	if err != nil {
		return nil, err
	}
	if n == int64(len(names)) {
		for i := range there {
			there[i] = true
		}
		return there, nil
	}
	found := make([]*redis.IntCmd, len(names))
	_, err = v.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, name := range names {
			found[i] = p.Exists(ctx, name)
		}
		return nil
	})
	for i := range found {
		there[i] = found[i].Val() == 1
	}
	return there, err
}

// isNameless tells whether a row's key was not known, and forgets it: now it
// is.
func (v *opaqueVerifier) isNameless(redisKey string) bool {
	if len(v.nameless) == 0 {
		return false
	}
	sum := [32]byte{}
	_, _ = hex.Decode(sum[:], []byte(redisKey[len(redisKey)-64:])) // Keys.Row ends in 64 digits
	_, nameless := v.nameless[sum]
	delete(v.nameless, sum)
	return nameless
}

// leftNameless looks at the rows that nothing leads to, and that do not tell
// their key themselves.
func (v *opaqueVerifier) leftNameless(ctx context.Context) error {
	for sum := range v.nameless {
		if err := v.look(ctx, v.domain()+":"+hex.EncodeToString(sum[:]), ""); err != nil {
			return err
		}
	}
	return nil
}

func isNil(err error) bool { return errors.Is(err, redis.Nil) }
