// Reading: the records of the older layouts that have a key for each.

package legacy

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Key is a Redis key and what its name says.
type Key struct {
	RedisKey string
	keyspace.Name
}

// Reading is what a key held at one moment.
type Reading struct {
	Key
	Now    int64 // the server's time in ms since the epoch
	Found  bool  // the key exists
	Record Record
	// Foreign: the key has another type, and a name that proves nothing, so it
	// is taken for none of the layout.
	Foreign bool
	Err     error // storeerr.Integrity: the key holds no record of its layout
}

// Read reads keys in one round trip a server, each at one moment. Each is a
// Record of a row, or a BlobValue, of an older layout; another one is
// storeerr.Invalid. Replies are not bounded: a row has about 1 MiB, a blob
// 64 MiB, so that blobs are better read one by one.
func Read(ctx context.Context, rdb redis.UniversalClient, keys ...Key) ([]Reading, error) {
	script := luascripts.Must("legacy_read")
	calls := make([]luascripts.Call, len(keys))
	for i, key := range keys {
		fields, ok := fieldsOf(key.Name)
		if !ok {
			return nil, storeerr.New(storeerr.Invalid, "no record of an older layout: %q", key.RedisKey)
		}
		args := make([]any, len(fields))
		for i, field := range fields {
			args[i] = field
		}
		calls[i] = luascripts.Call{Script: script, Keys: []string{key.RedisKey}, Args: args}
	}
	readings := make([]Reading, len(keys))
	for i, cmd := range luascripts.Pipeline(ctx, rdb, calls) {
		reply, err := cmd.Slice()
		readings[i] = Reading{Key: keys[i]}
		err = storeerr.FromRedis(err, storeerr.Reads, fmt.Sprintf("reading %q", keys[i].RedisKey))
		if errors.Is(err, storeerr.Integrity) {
			// It has another type.
			if readings[i].Foreign = !keys[i].Certain; !readings[i].Foreign {
				readings[i].damaged("it is no " + keys[i].Type())
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := readings[i].take(reply); err != nil {
			return nil, err
		}
	}
	return readings, nil
}

// fieldsOf are the fields of a record's hash, none for a string.
func fieldsOf(n keyspace.Name) (fields []string, ok bool) {
	switch {
	case n.Layout == keyspace.OpaqueV1 && n.Role == keyspace.Record:
		return []string{"key", "bytes", "version", "expiresAtMs"}, true
	case n.Layout == keyspace.Tagless && n.Role == keyspace.Record:
		return []string{"bytes", "version"}, true
	case n.Layout == keyspace.RelocationOpaqueV1 && n.Role == keyspace.BlobValue:
		return []string{"reference", "bytes", "expiresAtMs"}, true
	}
	return nil, n.Layout != keyspace.Current && n.Role == keyspace.BlobValue
}

// take reads a reply of the script.
func (r *Reading) take(reply []any) error {
	var numbers [3]int64
	if len(reply) < len(numbers) {
		return storeerr.New(storeerr.Failed, "reading the answer: %q", reply)
	}
	for i := range numbers {
		var err error
		if numbers[i], err = strconv.ParseInt(fmt.Sprint(reply[i]), 10, 64); err != nil {
			return fmt.Errorf("reading the answer: %w", err)
		}
	}
	const missing = -2 // as PTTL says it
	ttl, count := numbers[1], int(numbers[2])
	if r.Now = numbers[0]; ttl == missing {
		return nil
	}
	r.Found = true
	var expiresAt int64
	if ttl >= 0 {
		expiresAt = r.Now + ttl
	}
	record, err := r.decode(reply[len(numbers):], count, expiresAt)
	if err != nil {
		r.damaged(err.Error())
		return nil
	}
	r.Record = record
	return nil
}

func (r *Reading) decode(values []any, count int, expiresAt int64) (Record, error) {
	names, _ := fieldsOf(r.Name)
	if names == nil {
		return r.decodeString(fmt.Sprint(values...), expiresAt)
	}
	fields := map[string]string{}
	for i, name := range names {
		if value, ok := values[i].(string); ok {
			fields[name] = value
		}
	}
	if count > len(names) {
		return Record{}, errTooMany
	}
	switch r.Layout {
	case keyspace.OpaqueV1:
		return DecodeRecord(r.SHA256, fields)
	case keyspace.Tagless:
		return DecodeTagless(r.Name.Key, fields, expiresAt)
	}
	return DecodeBlob(r.SHA256, fields)
}

// decodeString reads a blob that is a string with a time to live.
func (r *Reading) decodeString(value string, expiresAt int64) (Record, error) {
	if expiresAt == 0 {
		return Record{}, errors.New("it has no time to live, and every blob has one")
	}
	if r.Layout == keyspace.RelocationRoot {
		var err error
		if value, err = DecodeBase64(value); err != nil {
			return Record{}, err
		}
	}
	return Record{Key: r.Name.Key, Value: value, ExpiresAt: expiresAt}, nil
}

func (r *Reading) damaged(reason string) {
	r.Found = true
	r.Err = storeerr.New(storeerr.Integrity, "no record of layout %s: %s", r.Layout, reason).AtKey(r.RedisKey)
}
