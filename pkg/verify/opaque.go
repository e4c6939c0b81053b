// The versioned store: the order in which everything is looked at.

package verify

import (
	"context"
	"fmt"
	"iter"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

// pageSize is how many keys or entries one step of a walk asks for.
const pageSize = 1000

// Opaque yields what is wrong in a versioned store, poison rows first. It reads
// each row once, and remembers nothing of sound ones. The last thing yielded
// may be an error, one of storeerr's kinds: Invalid for a prefix that the store
// cannot have.
func Opaque(ctx context.Context, rdb redis.UniversalClient, prefix string, o Options) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		v := &opaqueVerifier{
			report: report{yield: yield, options: o}, rdb: rdb, prefix: prefix, nameless: map[[32]byte]struct{}{},
		}
		var err error
		if v.keys, err = opaque.NewKeys(prefix); err == nil {
			err = v.run(ctx)
		}
		v.end(err, "verifying the versioned store")
	}
}

type opaqueVerifier struct {
	report
	rdb    redis.UniversalClient
	prefix string
	keys   opaque.Keys

	rows     int64                 // rows found
	top      float64               // the highest score of a version
	topRow   string                // the row that has it
	topKey   string                // and its logical key
	nameless map[[32]byte]struct{} // SHA-256 of rows whose versions do not tell their key
}

// run goes through the store. Each walk finds what no other can: rows that
// nothing names, entries of each kind without a row.
func (v *opaqueVerifier) run(ctx context.Context) error {
	for _, walk := range []func(context.Context) error{
		v.poison, v.bookkeeping, v.snapshots, v.keyspace, v.counter,
		v.walkIndex, v.walkMap, v.walkCleanup, v.leftNameless,
	} {
		err := walk(ctx)
		if err == nil {
			err = v.walked()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// look reads a key in one step and hands on what is wrong with it. What made it
// look suspicious before may have been two moments.
func (v *opaqueVerifier) look(ctx context.Context, redisKey, key string) error {
	r, err := v.read(ctx, redisKey, key)
	if err != nil {
		return err
	}
	return v.found(v.judge(r)...)
}

// finding begins a finding on a logical key.
func (v *opaqueVerifier) finding(code Code, redisKey, key, expected, format string, args ...any) Finding {
	f := code.finding(v.prefix, redisKey, expected, fmt.Sprintf(format, args...))
	f.Key = key
	return f
}
