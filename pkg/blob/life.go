package blob

// The end of a blob: moving its expiry, and deleting it before.

import "context"

// Renew sets the expiry of a blob to now + retention ms, shorter or longer;
// its bytes stay as they are. It is storeerr.NotFound when there is no blob.
func (s *Store) Renew(ctx context.Context, reference string, retention int64) (Result, error) {
	if err := checkReference(reference); err != nil {
		return Result{}, err
	}
	if err := checkRetention(retention); err != nil {
		return Result{}, err
	}
	reply, err := s.run(ctx, "blob_renew", "renewing", reference, retention)
	if err != nil {
		return Result{}, err
	}
	if reply.status == string(Missing) {
		return Result{}, missing(reference)
	}
	return Result{Outcome: Renewed, ExpiresAt: expiry(reply.now, reply.number), Now: reply.now}, nil
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
