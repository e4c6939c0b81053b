// What holds many things: the bookkeeping of the stores, and keys that are none
// of theirs. Only the first entries are read.

package inspect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/legacy"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// Entry is an item of a sorted set, a set, a list, a hash or a stream.
type Entry struct {
	Member string // the member, item, or name of the field; the id in a stream
	Score  string // of a sorted set, in decimal
	Moment int64  // the score, where that is a moment: ms since the epoch
	Value  string // of a field; of an item of a stream, its fields in a line
	Valued bool   // there is a Value
	Wrong  string // what is wrong with it, empty where nothing is
}

// readEntries reads the first entries of a store's bookkeeping.
func (r *reader) readEntries(ctx context.Context) error {
	if err := r.items(ctx); err != nil {
		return err
	}
	check := r.entryCheck()
	wrong := 0
	for i := range r.Entries {
		if check(&r.Entries[i]); r.Entries[i].Wrong != "" {
			wrong++
		}
	}
	if wrong > 0 {
		r.damaged("%d of the %d entries shown are wrong", wrong, len(r.Entries))
	}
	return nil
}

// entryCheck is what looks at each entry of a role for itself.
func (r *reader) entryCheck() func(*Entry) {
	switch r.Name.Role {
	case keyspace.Index:
		if r.Name.Layout == keyspace.OpaqueV1 {
			return func(e *Entry) {
				if _, err := legacy.DecodeIndexEntry(e.Member, e.Value); err != nil {
					e.Wrong = err.Error()
				}
			}
		}
		return func(e *Entry) {
			if e.Score != "0" {
				e.Wrong = "its score is not 0"
			}
		}
	case keyspace.Map:
		keys, err := opaque.NewKeys(r.Name.Prefix)
		return func(e *Entry) {
			if err == nil && e.Value != keys.Row(e.Member) {
				e.Wrong = "its row is " + keys.Row(e.Member)
			}
		}
	case keyspace.Cleanup, keyspace.SnapshotExpiry:
		return func(e *Entry) {
			if ms, err := strconv.ParseFloat(e.Score, 64); err == nil && ms > 0 && ms <= opaque.MaxExpiry {
				e.Moment = int64(ms)
			}
		}
	case keyspace.SegmentIndex:
		return func(e *Entry) {
			if _, err := warm.ParseChunk(e.Member); err != nil {
				e.Wrong = "it is no number of a chunk"
			} else if e.Score != e.Member {
				e.Wrong = "its score is another number"
			}
		}
	}
	return func(*Entry) {}
}

// previewBytes is how much is read of a string that is none of ours.
const previewBytes = 4096

// readForeign reads the beginning of any key.
func (r *reader) readForeign(ctx context.Context) error {
	if r.Type != "string" {
		return r.items(ctx)
	}
	text, err := r.rdb.GetRange(ctx, r.RedisKey, 0, previewBytes-1).Result()
	r.Preview = &text
	return err
}

// items reads the first items of a key that is no string.
func (r *reader) items(ctx context.Context) (err error) {
	last := int64(r.limit - 1)
	switch r.Type {
	case "zset":
		var members []redis.Z
		members, err = r.rdb.ZRangeWithScores(ctx, r.RedisKey, 0, last).Result()
		for _, z := range members {
			member, _ := z.Member.(string)
			r.Entries = append(r.Entries, Entry{Member: member, Score: scoreText(z.Score)})
		}
	case "list":
		var items []string
		items, err = r.rdb.LRange(ctx, r.RedisKey, 0, last).Result()
		r.addMembers(items)
	case "hash", "set":
		err = r.scanItems(ctx)
	case "stream":
		var messages []redis.XMessage
		messages, err = r.rdb.XRangeN(ctx, r.RedisKey, "-", "+", int64(r.limit)).Result()
		for _, m := range messages {
			r.Entries = append(r.Entries, Entry{Member: m.ID, Value: streamText(m.Values), Valued: true})
		}
	}
	r.More = r.Size > int64(len(r.Entries))
	return err
}

// streamText is a message of a stream in a line: name=value, by name.
func streamText(values map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, fmt.Sprintf("%s=%v", name, values[name]))
	}
	return strings.Join(parts, " ")
}

func (r *reader) addMembers(members []string) {
	for _, member := range members {
		r.Entries = append(r.Entries, Entry{Member: member})
	}
}

// scanItems reads items of what has no order, each once. A step of a scan may
// bring some more than asked for, or none.
func (r *reader) scanItems(ctx context.Context) error {
	seen := map[string]bool{}
	for cursor := uint64(0); ; {
		var found []string
		var err error
		step := 1
		if r.Type == "hash" {
			step = 2
			found, cursor, err = r.rdb.HScan(ctx, r.RedisKey, cursor, "", int64(r.limit)).Result()
		} else {
			found, cursor, err = r.rdb.SScan(ctx, r.RedisKey, cursor, "", int64(r.limit)).Result()
		}
		if err != nil {
			return err
		}
		for i := 0; i+step <= len(found) && len(r.Entries) < r.limit; i += step {
			if e := (Entry{Member: found[i], Valued: step == 2}); !seen[e.Member] {
				seen[e.Member] = true
				if e.Valued {
					e.Value = found[i+1]
				}
				r.Entries = append(r.Entries, e)
			}
		}
		if cursor == 0 || len(r.Entries) >= r.limit {
			return nil
		}
	}
}
