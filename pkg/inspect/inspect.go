// Package inspect tells what a Redis key is and what it holds: which store it
// belongs to, which part it plays there and in which layout, and its content,
// decoded as far as that goes. It reads a bounded part of each key, changes
// nothing, and shows what is damaged for what it is.
//
// [Key] looks at a key of Redis, [Logical] at all that a versioned store holds
// on a key of the application.
package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// DefaultLimit is how many items of a key are shown unless it is told
// otherwise.
const DefaultLimit = 100

// Options says how much is read.
type Options struct {
	// Limit is how many versions, entries or ids are read at most; 0 is
	// DefaultLimit.
	Limit int
}

func (o Options) limit() int {
	if o.Limit == 0 {
		return DefaultLimit
	}
	return o.Limit
}

// Report is what a Redis key is and holds. Of the contents at most one is set:
// which, Name.Role tells.
type Report struct {
	RedisKey string
	Found    bool
	Name     keyspace.Name // what it is by its name, and where that leaves a choice by its type
	Now      int64         // the server's time, ms since the epoch

	Type      string // as TYPE says it
	Size      int64  // bytes of a string, items of anything else; -1 where it is not known
	ExpiresAt int64  // ms since the epoch, 0 = never
	Encoding  string // as OBJECT ENCODING says it; empty where the server does not tell
	Memory    *int64 // bytes, as MEMORY USAGE says; nil where the server does not tell

	Versions []Version   // of a row, a row of an older layout, or a row's quarantine
	Entries  []Entry     // of what holds many things
	More     bool        // there are more versions or entries than these
	Counter  *string     // the text of a counter
	Snapshot *Snapshot   // a snapshot's own record
	Blob     *Blob       // a blob, of the current or an older layout
	Chunk    *warm.Chunk // a chunk, its payload with it
	Delta    *warm.Delta // the payload of the chunk, where it decodes
	Preview  *string     // the first bytes of a string that is none of ours

	// Damage is what is wrong with the key, as far as the key itself tells.
	Damage []error
}

// Snapshot is the record of a snapshot, as it stands.
type Snapshot struct {
	Moment   int64  // ms since the epoch, 0 where it does not read
	Boundary string // the sequence that it reads at
	Prefix   string
}

// Blob is a blob without its bytes.
type Blob struct {
	Reference string
	Size      int64
	Kind      blob.Kind
	Frame     *blob.Frame // nil where there is none, or it does not decode
}

// Key looks at a key of Redis. A key that does not exist is no error: Found is
// false, and Name tells what it would be. The errors are those of the
// connection.
func Key(ctx context.Context, rdb redis.UniversalClient, redisKey string, o Options) (Report, error) {
	r := reader{rdb: rdb, limit: o.limit(), Report: Report{RedisKey: redisKey}}
	err := r.read(ctx)
	if errors.Is(err, storeerr.NotFound) {
		r.Found, err = false, nil // it went meanwhile
	}
	if err != nil {
		return r.Report, storeerr.FromRedis(err, storeerr.Reads, fmt.Sprintf("inspecting %q", redisKey))
	}
	return r.Report, nil
}

// Layout is the layout of the key: that of its name, or keyspace.Untagged for a
// row whose newest version has no format tag, which its name does not tell.
func (r Report) Layout() keyspace.Layout {
	if len(r.Versions) > 0 && r.Versions[0].Untagged {
		return keyspace.Untagged
	}
	return r.Name.Layout
}

// reader fills in a report.
type reader struct {
	Report
	rdb   redis.UniversalClient
	limit int
}

func (r *reader) read(ctx context.Context) error {
	if err := r.facts(ctx); err != nil {
		return err
	}
	r.Name = r.name()
	if !r.Found {
		return nil
	}
	r.whatServersMayKeep(ctx)
	r.checkNever()
	if want := r.Name.Type(); want != "" && want != r.Type {
		r.damaged("it is of type %s, not %s", r.Type, want)
		return r.readForeign(ctx)
	}
	return r.content(ctx)
}

// facts reads what the key is without its content.
func (r *reader) facts(ctx context.Context) error {
	reply, err := luascripts.Must("inspect_key").Run(ctx, r.rdb, []string{r.RedisKey}).StringSlice()
	if err != nil {
		return err
	}
	var numbers [3]int64
	for i, at := range [3]int{0, 2, 3} {
		if numbers[i], err = strconv.ParseInt(reply[at], 10, 64); err != nil {
			return fmt.Errorf("reading the answer: %w", err)
		}
	}
	r.Now, r.Type, r.Size = numbers[0], reply[1], numbers[2]
	if ttl := numbers[1]; ttl >= 0 {
		r.ExpiresAt = r.Now + ttl
	}
	r.Found = r.Type != "none"
	return nil
}

// name chooses among the readings of the name by the type. Where no uncertain
// one has it, the key is none of ours.
func (r *reader) name() keyspace.Name {
	readings := keyspace.Readings(r.RedisKey)
	for _, n := range readings {
		if n.Certain || n.Type() == r.Type {
			return n
		}
	}
	if len(readings) > 0 && !r.Found {
		return readings[0]
	}
	return keyspace.Name{}
}

// whatServersMayKeep asks for what a user may lack the right to, and some
// servers do not know.
func (r *reader) whatServersMayKeep(ctx context.Context) {
	var encoding *redis.StringCmd
	var memory *redis.IntCmd
	_, _ = r.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		encoding, memory = p.ObjectEncoding(ctx, r.RedisKey), p.MemoryUsage(ctx, r.RedisKey)
		return nil
	})
	r.Encoding = encoding.Val()
	if memory.Err() == nil {
		r.Memory = new(memory.Val())
	}
}

// checkNever holds the key to having a time to live, or none.
func (r *reader) checkNever() {
	switch n := r.Name; {
	case n.Store == keyspace.Foreign, n.Role == keyspace.Unknown:
	case n.Role == keyspace.BlobValue, n.Role == keyspace.Snapshot && n.Layout == keyspace.Current:
		if r.ExpiresAt == 0 {
			r.damaged("it never expires, and such a key does")
		}
	case n.Layout == keyspace.Current && r.ExpiresAt != 0:
		r.damaged("it expires, and such a key never does")
	}
}

func (r *reader) content(ctx context.Context) error {
	switch n := r.Name; n.Role {
	case keyspace.Row, keyspace.Quarantine:
		return r.readVersions(ctx)
	case keyspace.Sequence, keyspace.VersionCounter:
		return r.readCounter(ctx)
	case keyspace.Record:
		return r.readRecord(ctx)
	case keyspace.BlobValue:
		return r.readBlob(ctx)
	case keyspace.Chunk:
		return r.readChunk(ctx)
	case keyspace.Snapshot:
		if n.Layout == keyspace.Current {
			return r.readSnapshot(ctx)
		}
		return r.readForeign(ctx)
	case keyspace.Index, keyspace.Map, keyspace.Cleanup, keyspace.SnapshotExpiry, keyspace.SnapshotBoundary, keyspace.SegmentIndex:
		return r.readEntries(ctx)
	}
	if r.Name.Role == keyspace.Unknown {
		r.damaged("it stands under the name of a store, and is none of its keys")
	}
	return r.readForeign(ctx)
}

// damaged tells what is wrong with the key.
func (r *reader) damaged(format string, args ...any) {
	r.Damage = append(r.Damage, fmt.Errorf(format, args...))
}

func (r *reader) readCounter(ctx context.Context) error {
	text, err := r.rdb.GetRange(ctx, r.RedisKey, 0, maxCounter).Result()
	if err != nil {
		return err
	}
	r.Counter = &text
	if n, err := strconv.ParseInt(text, 10, 64); err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		r.damaged("it is no number that can be counted up")
	}
	return nil
}

// maxCounter is more than the digits of any counter.
const maxCounter = 63

func (r *reader) readSnapshot(ctx context.Context) error {
	fields, err := r.rdb.HMGet(ctx, r.RedisKey, "now", "boundary", "prefix").Result()
	if err != nil {
		return err
	}
	var texts [3]string
	for i, name := range [3]string{"now", "boundary", "prefix"} {
		text, ok := fields[i].(string)
		if texts[i] = text; !ok {
			r.damaged("it has no %s", name)
		}
	}
	r.Snapshot = &Snapshot{Boundary: texts[1], Prefix: texts[2]}
	if r.Snapshot.Moment, err = strconv.ParseInt(texts[0], 10, 64); err != nil && texts[0] != "" {
		r.damaged("its now is %.40q", texts[0])
	}
	if _, err := strconv.ParseUint(texts[1], 10, 64); err != nil && texts[1] != "" {
		r.damaged("its boundary is %.40q", texts[1])
	}
	return r.checkSnapshot(ctx)
}

// checkSnapshot holds the HASH of a snapshot against its two other records, of
// one moment.
func (r *reader) checkSnapshot(ctx context.Context) error {
	keys, err := opaque.NewKeys(r.Name.Prefix)
	if err != nil {
		return err
	}
	names := []string{keys.SnapshotExpiry(), keys.SnapshotBoundary(), r.RedisKey}
	reply, err := luascripts.Must("opaque_verify_snapshot").Run(ctx, r.rdb, names, r.Name.SnapshotID).Slice()
	if redis.HasErrorPrefix(err, "WRONGTYPE") {
		return nil // the damage of another key
	}
	if err != nil {
		return err
	}
	if fmt.Sprint(reply[1]) == "records" {
		missing := func(reply any) any { return cmp.Or(reply, any("missing")) }
		r.damaged("its three records disagree: the guard is %v, the boundary %v, and that of this key %v",
			missing(reply[2]), missing(reply[3]), missing(reply[5]))
	}
	return nil
}
