package blob

// Reading: whole blobs, and what is known of one.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
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
	info, payload, err := s.readAtOnce(ctx, reference)
	if redis.HasErrorPrefix(err, "EXECABORT") {
		info, payload, err = s.readByScript(ctx, reference)
	}
	if err != nil {
		return Blob{}, s.readError(err, reference)
	}
	info.Size, info.Kind = int64(len(payload)), kindOf(payload)
	return Blob{Info: info, Payload: payload}, nil
}

// readError names what a command that reads a blob failed with.
func (s *Store) readError(err error, reference string) error {
	switch {
	case isWrongType(err):
		return s.foreign(reference)
	case errors.Is(err, redis.Nil):
		return missing(reference)
	}
	return storeerr.FromRedis(err, storeerr.Reads, fmt.Sprintf("reading blob %q", reference))
}

// readAtOnce reads a blob in a transaction; redis.Nil says that there is none.
// The time goes on in it, so what is left to live is asked next to that, and
// not behind a payload that takes a while.
func (s *Store) readAtOnce(ctx context.Context, reference string) (Info, []byte, error) {
	key := s.Key(reference)
	var clock *redis.TimeCmd
	var get *redis.StringCmd
	var ttl *redis.Cmd
	_, err := s.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		clock, ttl, get = p.Time(ctx), p.Do(ctx, "PTTL", key), p.Get(ctx, key)
		return nil
	})
	if err != nil {
		return Info{}, nil, err
	}
	left, err := ttl.Int64()
	if err != nil {
		return Info{}, nil, err
	}
	now := clock.Val().UnixMilli()
	payload, err := get.Bytes()
	return Info{Reference: reference, ExpiresAt: expiry(now, left), Now: now}, payload, err
}

// readByScript is readAtOnce for a server that refuses transactions.
func (s *Store) readByScript(ctx context.Context, reference string) (Info, []byte, error) {
	reply, err := luascripts.Must("blob_read").Run(ctx, s.rdb, []string{s.Key(reference)}).Slice()
	if err != nil {
		return Info{}, nil, err
	}
	payload, found := reply[2].(string)
	if !found {
		return Info{}, nil, redis.Nil
	}
	now, nowErr := strconv.ParseInt(fmt.Sprint(reply[0]), 10, 64)
	left, leftErr := strconv.ParseInt(fmt.Sprint(reply[1]), 10, 64)
	return Info{Reference: reference, ExpiresAt: expiry(now, left), Now: now}, []byte(payload), errors.Join(nowErr, leftErr)
}

// Stat is what is known of a blob, and what its bytes say of themselves.
type Stat struct {
	Info
	Frame *Frame // its data left out; nil for KindBytes and a frame that cannot be decoded
	// Damage is storeerr.Integrity when the blob begins as a frame does and is
	// no whole one, or has a wrong CRC (ErrCRC); the store itself serves such a
	// blob like any other.
	Damage error
}

// Stat returns the size, the expiry and the frame of a blob, with the errors
// of Read. A blob that begins as a frame does is read to its end, for its CRC:
// in pieces of 1 MiB, and whole only where those are no whole frame.
func (s *Store) Stat(ctx context.Context, reference string) (Stat, error) {
	info, exists, err := s.look(ctx, reference)
	switch {
	case err != nil:
		return Stat{}, err
	case !exists:
		return Stat{}, missing(reference)
	case info.Kind == KindBytes:
		return Stat{Info: info}, nil
	}
	if info.Size > pieceBytes {
		stat, err := s.statInPieces(ctx, info)
		if !errors.Is(err, errUnsound) {
			return stat, err
		}
	}
	whole, err := s.Read(ctx, reference)
	if err != nil {
		return Stat{}, err
	}
	stat := Stat{Info: whole.Info}
	stat.Frame, err = decodeFrame(whole.Payload)
	if err != nil {
		stat.Damage = s.damaged(reference, err)
	}
	if stat.Frame != nil && stat.Frame.Chunk != nil {
		stat.Frame.Chunk.Data = nil
	}
	return stat, nil
}

// statInPieces is Stat of a frame, which is errUnsound unless it is whole but,
// at most, for its CRC. A wrong one is read twice: pieces of two blobs that
// followed each other have none that is right.
func (s *Store) statInPieces(ctx context.Context, info Info) (Stat, error) {
	stat := Stat{Info: info}
	var wrong error
	for {
		frame, err := s.frameInPieces(ctx, info.Reference, info.Size, io.Discard)
		stat.Frame = frame
		switch {
		case err == nil, errors.Is(err, errUnsound):
			return stat, err
		case !errors.Is(err, ErrCRC):
			return Stat{}, s.readError(err, info.Reference)
		case wrong == nil:
			wrong = err
		case wrong.Error() != err.Error():
			return Stat{}, errUnsound
		default:
			stat.Damage = s.damaged(info.Reference, storeerr.New(storeerr.Integrity, "decoding the frame of a %s: %w", info.Kind, err))
			return stat, nil
		}
	}
}

func (s *Store) damaged(reference string, err error) error {
	return storeerr.New(storeerr.Integrity, "blob %q: %w", reference, err).AtKey(s.Key(reference))
}

// look returns what is known of a blob without reading it whole, and whether
// there is one; without one, the time alone.
func (s *Store) look(ctx context.Context, reference string) (info Info, exists bool, err error) {
	if err := checkReference(reference); err != nil {
		return Info{}, false, err
	}
	now, all, err := s.facts(ctx, []string{s.Key(reference)}, frameMagicBytes)
	if err != nil {
		return Info{}, false, storeerr.FromRedis(err, storeerr.Reads, fmt.Sprintf("reading blob %q", reference))
	}
	f := all[0]
	switch {
	case f.foreign:
		return Info{}, false, s.foreign(reference)
	case f.ttl == noKey:
		return Info{Now: now}, false, nil
	}
	info = Info{Reference: reference, Size: f.size, Kind: kindOf([]byte(f.head)), ExpiresAt: expiry(now, f.ttl), Now: now}
	return info, true, nil
}

// noKey is what PTTL says of a key that does not exist.
const noKey = -2

func isWrongType(err error) bool { return redis.HasErrorPrefix(err, "WRONGTYPE") }
