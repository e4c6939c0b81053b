package blob

// Putting: the plain commands that store a new blob at the cost of a bare SET,
// and the script that compares where one exists.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// recheckTime bounds the second try after a lost answer, where the context of
// the call is over.
const recheckTime = 2 * time.Second

// Put stores payload under reference for a retention in ms. It is Stored when
// there was no blob and AlreadyStored, the expiry left alone, when exactly
// these bytes were there. Other bytes there are storeerr.Conflict, another
// type storeerr.Integrity; neither changes anything.
//
// When the answer is lost, Put runs once more under the same condition, unless
// ctx was cancelled: finding its bytes in place is then AlreadyStored, and
// anything but success is storeerr.UnknownOutcome.
func (s *Store) Put(ctx context.Context, reference string, payload []byte, retention int64) (Result, error) {
	if err := cmp.Or(checkReference(reference), checkPayload(payload), checkRetention(retention)); err != nil {
		return Result{}, err
	}
	return s.putTwice(ctx, reference, payload, lifetime{"PX", retention})
}

// PutUntil is Put with the moment at which the blob expires, in ms since the
// epoch: 1 to MaxRetention. One that has passed stores nothing that lasts.
func (s *Store) PutUntil(ctx context.Context, reference string, payload []byte, expiresAt int64) (Result, error) {
	if err := cmp.Or(checkReference(reference), checkPayload(payload), checkRetention(expiresAt)); err != nil {
		return Result{}, err
	}
	return s.putTwice(ctx, reference, payload, lifetime{"PXAT", expiresAt})
}

// lifetime is how SET takes the end of a blob: an option and its number of ms.
type lifetime struct {
	option string // PX or PXAT
	ms     int64
}

// end is when a blob ends that was given the lifetime now, in ms since the
// epoch. Both numbers are at most 2^53, so the sum fits.
func (l lifetime) end(now int64) int64 {
	if l.option == "PX" {
		return now + l.ms
	}
	return l.ms
}

// putTwice puts, and once more where the answer was lost.
func (s *Store) putTwice(ctx context.Context, reference string, payload []byte, life lifetime) (Result, error) {
	result, err := s.put(ctx, reference, payload, life)
	if !errors.Is(err, storeerr.UnknownOutcome) || errors.Is(ctx.Err(), context.Canceled) {
		return result, err
	}
	again := ctx
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		again, cancel = context.WithTimeout(context.WithoutCancel(ctx), recheckTime)
		defer cancel()
	}
	if tooLarge := s.checkServerLimit(again, reference, payload); tooLarge != nil {
		return Result{}, tooLarge
	}
	if result, retryErr := s.put(again, reference, payload, life); retryErr == nil {
		return result, nil
	}
	return Result{}, err
}

func (s *Store) put(ctx context.Context, reference string, payload []byte, life lifetime) (Result, error) {
	key := s.Key(reference)
	doing := fmt.Sprintf("putting blob %q", reference)
	var clock *redis.TimeCmd
	var set *redis.Cmd
	var length *redis.IntCmd
	_, err := s.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		clock = p.Time(ctx)
		set = p.Do(ctx, "SET", key, payload, life.option, life.ms, "NX")
		length = p.StrLen(ctx, key)
		return nil
	})
	if isWrongType(length.Err()) {
		return Result{}, s.foreign(reference)
	}
	exists := errors.Is(set.Err(), redis.Nil)
	if exists && length.Err() == nil {
		if there := length.Val(); there != int64(len(payload)) {
			return Result{}, s.conflict(reference, there)
		}
		return s.compare(ctx, reference, payload, life)
	}
	if set.Err() != nil {
		// What the server says of the SET itself tells more than the abort of
		// the transaction does.
		err = set.Err()
	}
	if err != nil {
		return Result{}, storeerr.FromRedis(err, storeerr.Writes, doing)
	}
	now := clock.Val().UnixMilli()
	return Result{Outcome: Stored, ExpiresAt: life.end(now), Now: now}, nil
}

// compare puts where a blob of the same length exists.
func (s *Store) compare(ctx context.Context, reference string, payload []byte, life lifetime) (Result, error) {
	reply, err := s.run(ctx, "blob_put", "putting", reference, payload, life.option, life.ms)
	if err != nil {
		return Result{}, err
	}
	result := Result{Outcome: Outcome(reply.status), ExpiresAt: expiry(reply.now, reply.number), Now: reply.now}
	switch {
	case reply.status == "conflict":
		return Result{}, s.conflict(reference, reply.number)
	case result.Outcome == Stored:
		result.ExpiresAt = life.end(reply.now)
	}
	return result, nil
}

func (s *Store) conflict(reference string, length int64) error {
	return storeerr.New(storeerr.Conflict, "blob %q holds other bytes (%d of them)", reference, length).AtKey(s.Key(reference))
}

// checkServerLimit tells whether the server cuts off bulks of the payload's
// size: it closes the connection without a word that the client reads.
func (s *Store) checkServerLimit(ctx context.Context, reference string, payload []byte) error {
	const setting = "proto-max-bulk-len"
	settings, err := s.rdb.ConfigGet(ctx, setting).Result()
	if err != nil {
		return nil // not known, so nothing to say
	}
	limit, err := strconv.ParseInt(settings[setting], 10, 64)
	if err != nil || int64(len(payload)) <= limit {
		return nil
	}
	return storeerr.New(storeerr.Invalid, "putting blob %q: the payload has %d bytes, the server takes at most %d (%s)",
		reference, len(payload), limit, setting).WithHint("raise %s on the server", setting)
}

// scriptReply is what the scripts of this store answer.
type scriptReply struct {
	status string
	now    int64
	number int64 // ms to live or a length, where there is one
}

// run runs one of the store's scripts on a reference's key. An answer
// "integrity" comes back as its error.
func (s *Store) run(ctx context.Context, script, verb, reference string, args ...any) (scriptReply, error) {
	texts, err := luascripts.Must(script).Run(ctx, s.rdb, []string{s.Key(reference)}, args...).StringSlice()
	if err != nil {
		return scriptReply{}, storeerr.FromRedis(err, storeerr.Writes, fmt.Sprintf("%s blob %q", verb, reference))
	}
	var reply scriptReply
	var bad error
	switch len(texts) {
	case 3:
		reply.number, bad = strconv.ParseInt(texts[2], 10, 64)
		fallthrough
	case 2:
		reply.status = texts[0]
		reply.now, err = strconv.ParseInt(texts[1], 10, 64)
		bad = cmp.Or(bad, err)
	default:
		bad = errors.New("too few values")
	}
	if bad != nil {
		return scriptReply{}, storeerr.New(storeerr.Failed, "%s blob %q: script %s answered %q: %w", verb, reference, script, texts, bad)
	}
	if reply.status == "integrity" {
		return scriptReply{}, s.foreign(reference)
	}
	return reply, nil
}
