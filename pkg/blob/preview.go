package blob

// Previews: what a write would do at this moment, without doing it.

import (
	"bytes"
	"cmp"
	"context"
)

// CheckReference returns storeerr.Invalid unless reference is 1 to 4,096
// bytes of UTF-8.
func CheckReference(reference string) error { return checkReference(reference) }

// PreviewPut says what Put would do now, with its errors, and changes nothing.
// A blob that exists is read whole when it has the payload's size.
func (s *Store) PreviewPut(ctx context.Context, reference string, payload []byte, retention int64) (Result, error) {
	if err := cmp.Or(checkPayload(payload), checkRetention(retention)); err != nil {
		return Result{}, err
	}
	found, exists, err := s.look(ctx, reference)
	if err != nil {
		return Result{}, err
	}
	if !exists {
		return Result{Outcome: Stored, ExpiresAt: expiry(found.Now, retention), Now: found.Now}, nil
	}
	if found.Size != int64(len(payload)) {
		return Result{}, s.conflict(reference, found.Size)
	}
	there, err := s.Read(ctx, reference)
	if err != nil {
		return Result{}, err
	}
	if !bytes.Equal(there.Payload, payload) {
		return Result{}, s.conflict(reference, there.Size)
	}
	return Result{Outcome: AlreadyStored, ExpiresAt: there.ExpiresAt, Now: there.Now}, nil
}

// PreviewRenew says what Renew would do now, with its errors, and changes
// nothing.
func (s *Store) PreviewRenew(ctx context.Context, reference string, retention int64) (Result, error) {
	if err := checkRetention(retention); err != nil {
		return Result{}, err
	}
	found, exists, err := s.look(ctx, reference)
	if err != nil {
		return Result{}, err
	}
	if !exists {
		return Result{}, missing(reference)
	}
	return Result{Outcome: Renewed, ExpiresAt: expiry(found.Now, retention), Now: found.Now}, nil
}

// PreviewDelete says what Delete would do now, with its errors, and changes
// nothing.
func (s *Store) PreviewDelete(ctx context.Context, reference string) (Result, error) {
	found, exists, err := s.look(ctx, reference)
	if err != nil {
		return Result{}, err
	}
	if !exists {
		return Result{Outcome: Missing, Now: found.Now}, nil
	}
	return Result{Outcome: Deleted, Now: found.Now}, nil
}
