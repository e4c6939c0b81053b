// Package doctor holds a server's settings and its connection against what the
// versioned, blob and warm stores need. It writes nothing to the server and
// looks at no key.
//
// [Run] asks each server that holds keys, and judges what it tells. What a
// server does not tell, or not to this user, is a check that was skipped.
package doctor

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// Status is how a check went.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Warning Status = "warning" // the stores work, and something may go wrong
	Failed  Status = "failed"  // a store does not work, or loses data
	Skipped Status = "skipped" // it is not known; Result.Found says why
)

// Store is a store that a check matters to.
type Store string

// The stores. All is none of them, and means each.
const (
	All    Store = "all"
	Opaque Store = "opaque"
	Blob   Store = "blob"
	Warm   Store = "warm"
)

// ParseStore returns the store of that name; All is none. Any other name is
// storeerr.Invalid.
func ParseStore(name string) (Store, error) {
	if store := Store(name); slices.Contains(eachStore(), store) {
		return store, nil
	}
	return "", storeerr.New(storeerr.Invalid, "unknown store %q: one of opaque, blob, warm", name)
}

func eachStore() []Store { return []Store{Opaque, Blob, Warm} }

// Result is what one check found. The texts are one line each, in lower case.
type Result struct {
	Check  string // the check's id, which stays the same from version to version
	Node   string // the server of a cluster, host:port; empty where all say the same
	Status Status
	Store  Store
	Found  string // what is there, or why it is not known
	Means  string // what follows for the store; empty when all is well
	Advice string // what to set or do; empty when there is nothing
	Needs  string // of a check of rights, what ACL SETUSER takes to give them all
}

// Options say what the server is meant for.
type Options struct {
	// Prefix is that of the stores' keys. Without one the rights of the user
	// are checked for commands alone, not for keys.
	Prefix string
	// Stores are the ones in use; none means all.
	Stores []Store
	// ReadOnly says that nothing will be written: a replica will do, and the
	// rights to write are not checked.
	ReadOnly bool
	// Clock tells this machine's time; nil is [time.Now].
	Clock func() time.Time
}

// Run checks a server, or each primary of a cluster, and returns the results in
// the order of the checks. A primary of a cluster that cannot be reached is a
// result; else the error is one of storeerr's kinds: Unavailable, Denied, or
// Invalid for a prefix that no store could have.
func Run(ctx context.Context, rdb redis.UniversalClient, o Options) ([]Result, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if err := checkPrefix(o.Prefix, o.Stores); err != nil {
		return nil, err
	}
	if err := connect(ctx, rdb); err != nil {
		return nil, err
	}
	nodes, err := gatherAll(ctx, rdb, o)
	if err != nil {
		return nil, storeerr.FromRedis(err, storeerr.Reads, "checking the server")
	}
	return merge(nodes, func(f *facts) []Result { return judge(f, o) }), nil
}

// connect fails where nothing could be found out: without a connection, or
// with a server that answers nobody yet. A refusal to this one command is no
// such thing.
func connect(ctx context.Context, rdb redis.UniversalClient) error {
	reply := rdb.Ping(ctx).Err()
	err := storeerr.FromRedis(reply, storeerr.Reads, "connecting")
	switch storeerr.KindOf(err) {
	case storeerr.ReadOnly, storeerr.Failed:
		if isReply(reply) {
			return nil
		}
	case storeerr.Denied:
		if redis.HasErrorPrefix(reply, "NOPERM") {
			return nil
		}
	}
	return err
}

// isReply tells whether an error is an answer of the server.
func isReply(err error) bool {
	_, ok := errors.AsType[redis.Error](err)
	return ok
}

// wants tells whether a check for a store is to be made.
func (o Options) wants(store Store) bool {
	return store == All || len(o.Stores) == 0 || slices.Contains(o.Stores, store) || slices.Contains(o.Stores, All)
}

// checkPrefix refuses a prefix that none of the stores in use could have.
func checkPrefix(prefix string, stores []Store) error {
	if prefix == "" {
		return nil
	}
	var refusal error
	for _, store := range eachStore() {
		if !(Options{Stores: stores}).wants(store) {
			continue
		}
		if _, err := sampleKey(store, prefix); err == nil {
			return nil
		} else if refusal == nil {
			refusal = err
		}
	}
	return refusal
}

// sampleKey returns a key as a store of the prefix has them.
func sampleKey(store Store, prefix string) (string, error) {
	switch store {
	case Opaque:
		keys, err := opaque.NewKeys(prefix)
		if err != nil {
			return "", err
		}
		return keys.Index(), nil
	case Blob:
		s, err := blob.New(nil, prefix)
		if err != nil {
			return "", err
		}
		return s.Key("reference"), nil
	}
	s, err := warm.New(nil, prefix)
	if err != nil {
		return "", err
	}
	return s.IndexKey(warm.Segment{Name: "segment"}), nil
}
