package blob

// Reading: whole blobs, and what is known of one.

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Blob is a payload and what is known of it.
type Blob struct {
	Info
	Payload []byte // not to be changed: it shares memory with the client's reply
}

// Read returns a blob in one round trip, as of one moment. It is
// storeerr.NotFound when there is none or it has expired, and
// storeerr.Integrity when the key holds another type.
func (s *Store) Read(ctx context.Context, reference string) (Blob, error) {
	if err := checkReference(reference); err != nil {
		return Blob{}, err
	}
	var get *redis.StringCmd
	info, err := s.observe(ctx, reference, func(p redis.Pipeliner, key string) redis.Cmder {
		get = p.Get(ctx, key)
		return get
	})
	if err != nil {
		return Blob{}, err
	}
	payload, err := get.Bytes()
	if err != nil {
		return Blob{}, err
	}
	info.Size = int64(len(payload))
	return Blob{Info: info, Payload: payload}, nil
}

// Stat is what is known of a blob, and what its bytes say of themselves.
type Stat struct {
	Info
	Kind  Kind   // what it begins as
	Frame *Frame // its data left out; nil for KindBytes and a frame that cannot be decoded
	// Damage is storeerr.Integrity when the blob begins as a frame does and is
	// no whole one, or has a wrong CRC (ErrCRC); the store itself serves such a
	// blob like any other.
	Damage error
}

// Stat returns the size, the expiry and the frame of a blob, with the errors
// of Read. Only a blob that begins as a frame does is read whole, for its CRC.
func (s *Store) Stat(ctx context.Context, reference string) (Stat, error) {
	if err := checkReference(reference); err != nil {
		return Stat{}, err
	}
	var length *redis.IntCmd
	var head *redis.StringCmd
	info, err := s.observe(ctx, reference, func(p redis.Pipeliner, key string) redis.Cmder {
		head = p.GetRange(ctx, key, 0, frameMagicBytes-1)
		length = p.StrLen(ctx, key)
		return length
	})
	if err != nil {
		return Stat{}, err
	}
	info.Size = length.Val()
	if kindOf([]byte(head.Val())) == KindBytes {
		return Stat{Info: info, Kind: KindBytes}, nil
	}
	whole, err := s.Read(ctx, reference)
	if err != nil {
		return Stat{}, err
	}
	stat := Stat{Info: whole.Info, Kind: kindOf(whole.Payload)}
	stat.Frame, err = decodeFrame(whole.Payload)
	if err != nil {
		stat.Damage = storeerr.New(storeerr.Integrity, "blob %q: %w", reference, err).AtKey(s.Key(reference))
	}
	if stat.Frame != nil && stat.Frame.Chunk != nil {
		stat.Frame.Chunk.Data = nil
	}
	return stat, nil
}

// observe runs the read commands that ask queues together with the server's
// time and the key's expiry, in one transaction. ask returns the command that
// shows a wrong type. With storeerr.NotFound the time comes along.
func (s *Store) observe(ctx context.Context, reference string, ask func(p redis.Pipeliner, key string) redis.Cmder) (Info, error) {
	key := s.Key(reference)
	var clock *redis.TimeCmd
	var asked redis.Cmder
	var ttl *redis.Cmd
	_, err := s.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		clock = p.Time(ctx)
		asked = ask(p, key)
		ttl = p.Do(ctx, "PTTL", key)
		return nil
	})
	if isWrongType(asked.Err()) {
		return Info{}, s.foreign(reference)
	}
	if err != nil && !errors.Is(err, redis.Nil) {
		return Info{}, storeerr.FromRedis(err, storeerr.Reads, fmt.Sprintf("reading blob %q", reference))
	}
	left, err := ttl.Int64()
	if err != nil {
		return Info{}, storeerr.FromRedis(err, storeerr.Reads, fmt.Sprintf("reading blob %q", reference))
	}
	now := clock.Val().UnixMilli()
	if left == noKey {
		return Info{Now: now}, missing(reference)
	}
	return Info{Reference: reference, ExpiresAt: expiry(now, left), Now: now}, nil
}

// noKey is what PTTL says of a key that does not exist.
const noKey = -2

func isWrongType(err error) bool { return redis.HasErrorPrefix(err, "WRONGTYPE") }
