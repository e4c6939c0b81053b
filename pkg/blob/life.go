package blob

// The end of a blob: moving its expiry, and deleting it before.

import (
	"cmp"
	"context"
)

// Renew sets the expiry of a blob to now + retention ms, shorter or longer;
// its bytes stay as they are. It is storeerr.NotFound when there is no blob.
func (s *Store) Renew(ctx context.Context, reference string, retention int64) (Result, error) {
	return s.renew(ctx, reference, lifetime{"PX", retention})
}

// RenewUntil is Renew with the moment at which the blob expires, in ms since
// the epoch: 1 to MaxRetention. One that has passed is the next one.
func (s *Store) RenewUntil(ctx context.Context, reference string, expiresAt int64) (Result, error) {
	return s.renew(ctx, reference, lifetime{"PXAT", expiresAt})
}

func (s *Store) renew(ctx context.Context, reference string, life lifetime) (Result, error) {
	if err := cmp.Or(checkReference(reference), checkRetention(life.ms)); err != nil {
		return Result{}, err
	}
	reply, err := s.run(ctx, "blob_renew", "renewing", reference, life.option, life.ms)
	if err != nil {
		return Result{}, err
	}
	if reply.status == string(Missing) {
		return Result{}, missing(reference)
	}
	return Result{Outcome: Renewed, ExpiresAt: life.end(reply.now), Now: reply.now}, nil
}

// Delete removes a blob. The outcome is Deleted, or Missing when there was
// none, which is no error.
func (s *Store) Delete(ctx context.Context, reference string) (Result, error) {
	if err := checkReference(reference); err != nil {
		return Result{}, err
	}
	reply, err := s.run(ctx, "blob_delete", "deleting", reference)
	if err != nil {
		return Result{}, err
	}
	return Result{Outcome: Outcome(reply.status), Now: reply.now}, nil
}
