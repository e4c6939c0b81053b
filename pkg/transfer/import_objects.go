// Importing blobs and chunks: each by itself.

package transfer

import (
	"context"
	"errors"
	"fmt"

	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

func (im *importer) blobs(ctx context.Context, records []*archive.Record, done *outcome) error {
	for _, r := range records {
		err := im.blob(ctx, r, done)
		if err = im.refused(err, done); err != nil {
			return err
		}
	}
	return nil
}

// blob puts a blob. One of the same bytes and another expiry is renewed to
// overwrite it; one of other bytes is never overwritten.
func (im *importer) blob(ctx context.Context, r *archive.Record, done *outcome) error {
	result, sent, err := im.putBlob(ctx, r)
	switch {
	case errors.Is(err, storeerr.Conflict) && im.o.OnConflict == Overwrite:
		if im.o.DryRun && !im.o.KeepGoing {
			done.sum.collide(err.Error())
			return nil
		}
		return storeerr.New(storeerr.Conflict, "%w", err).WithHint(immutableHint)
	case errors.Is(err, storeerr.Conflict):
		_, err = im.conflict(&done.sum, "%w", err)
		return err
	case err != nil:
		return err
	case result.Outcome == blob.Stored, sent && im.sameExpiry(r, result.ExpiresAt, true):
		done.sum.Created++
		return im.verifyBlob(ctx, r, done)
	case im.sameExpiry(r, result.ExpiresAt, false):
		done.sum.Unchanged++
		return nil
	}
	write, err := im.conflict(&done.sum, "blob %q has another expiry", r.Key)
	if !write || err != nil {
		return err
	}
	if !im.o.DryRun {
		switch err := im.renewBlob(ctx, r); {
		case errors.Is(err, storeerr.NotFound): // it has expired since
			return im.blob(ctx, r, done)
		case err != nil:
			return err
		}
	}
	done.sum.Replaced++
	return im.verifyBlob(ctx, r, done)
}

// renewBlob gives a blob its end. That is a moment where it can be: a payload
// that is on its way before takes a while.
func (im *importer) renewBlob(ctx context.Context, r *archive.Record) (err error) {
	for try := 1; ; try++ {
		if retention := im.o.Retention.Milliseconds(); retention > 0 {
			_, err = im.side.Blob.Renew(ctx, r.Key, retention)
		} else {
			_, err = im.side.Blob.RenewUntil(ctx, r.Key, r.ExpiresAt)
		}
		if err == nil || !mayTryAgain(ctx, err, try) {
			return err
		}
	}
}

// putBlob puts a blob, once more where the answer was lost: sent tells that it
// was, so that bytes which are there may be its own.
func (im *importer) putBlob(ctx context.Context, r *archive.Record) (result blob.Result, sent bool, err error) {
	retention := im.o.Retention.Milliseconds()
	for try := 1; ; try++ {
		switch {
		case im.o.DryRun && retention == 0:
			result, err = im.side.Blob.PreviewPut(ctx, r.Key, r.Value, im.remaining(r))
		case im.o.DryRun:
			result, err = im.side.Blob.PreviewPut(ctx, r.Key, r.Value, retention)
		case retention == 0:
			result, err = im.side.Blob.PutUntil(ctx, r.Key, r.Value, r.ExpiresAt)
		default:
			result, err = im.side.Blob.Put(ctx, r.Key, r.Value, retention)
		}
		if err == nil || errors.Is(err, storeerr.Conflict) || !mayTryAgain(ctx, err, try) {
			return result, sent, err
		}
		sent = sent || storeerr.AnswerLost(err)
	}
}

// remaining is how many ms a blob has until its expiry, at least one.
func (im *importer) remaining(r *archive.Record) int64 { return max(1, r.ExpiresAt-im.now()) }

// sameExpiry tells whether a blob that is there ends when the record does. An
// expiry of a blob is known as what is left of it, so it is never exact. own
// tells that it may be one that this import gave.
func (im *importer) sameExpiry(r *archive.Record, there int64, own bool) bool {
	if im.o.Retention > 0 {
		return im.retained(there, im.now(), own)
	}
	return there > 0 && near(there, r.ExpiresAt)
}

// retained tells whether what is there until a moment has the end that the
// retention would give it now or, where it is the import's own, has given it
// since it began. Only Overwrite cares; elsewhere any end will do.
func (im *importer) retained(there, now int64, own bool) bool {
	retention := im.o.Retention.Milliseconds()
	if there == 0 || im.o.OnConflict != Overwrite {
		return there > 0
	}
	began := im.startedAt + retention
	return near(there, now+retention) || own && (there > began || near(there, began))
}

// near tells whether two moments are the same one but for the tolerance.
func near(a, b int64) bool { return max(a-b, b-a) <= DefaultExpiryTolerance.Milliseconds() }

func (im *importer) verifyBlob(ctx context.Context, r *archive.Record, done *outcome) error {
	if !im.o.Verify || im.o.DryRun {
		return nil
	}
	there, err := im.side.Blob.Read(ctx, r.Key)
	switch {
	case errors.Is(err, storeerr.NotFound) && im.over(r):
		return nil
	case err != nil && !errors.Is(err, storeerr.NotFound) && !errors.Is(err, storeerr.Integrity):
		return err
	case err != nil || !sameBytes(r, there.Payload) || !im.sameExpiry(r, there.ExpiresAt, true):
		done.differs(fmt.Errorf("blob %q was not found as it was written", r.Key))
	}
	return nil
}

// chunks creates chunks, all in one round trip, and looks at what is in the
// way of the others.
func (im *importer) chunks(ctx context.Context, records []*archive.Record, done *outcome) error {
	chunks := make([]warm.Chunk, len(records))
	for i, r := range records {
		chunks[i] = warm.Chunk{Segment: warm.Segment{Namespace: r.Namespace, Name: r.Segment}, Number: r.Chunk, Payload: r.Value}
	}
	var created []warm.Creation
	// With tokens that are kept, finding one's own says nothing: look first.
	if look := im.o.DryRun || im.o.KeepTokens; !look {
		created = im.side.Warm.CreateEach(ctx, chunks)
	}
	for i, r := range records {
		var err error
		switch {
		case created != nil && created[i].Err == nil:
			done.sum.Created++
			err = im.verifyChunk(ctx, chunks[i], r, done)
		case created != nil && !mayTryAgain(ctx, created[i].Err, 1):
			err = created[i].Err
		default:
			err = im.chunk(ctx, chunks[i], r, created != nil && storeerr.AnswerLost(created[i].Err), done)
		}
		if err = im.refused(err, done); err != nil {
			return err
		}
	}
	return nil
}

// chunk writes a chunk after a look at what is there.
func (im *importer) chunk(ctx context.Context, c warm.Chunk, r *archive.Record, sent bool, done *outcome) error {
	for try := 1; ; try++ {
		there, err := im.side.Warm.Get(ctx, c.Segment, c.Number)
		missing := errors.Is(err, storeerr.NotFound)
		switch {
		case err != nil && !missing:
			return err
		case !missing && sameBytes(r, there.Payload):
			if sent {
				done.sum.Created++
			} else {
				done.sum.Unchanged++
			}
			return nil
		case !missing:
			write, err := im.conflict(&done.sum, "chunk %d of segment %q has another payload", c.Number, c.Segment)
			if !write || err != nil {
				return err
			}
		}
		if !im.o.DryRun {
			err = im.writeChunk(ctx, c, r, there.Token)
		} else {
			err = nil
		}
		if err == nil {
			if missing {
				done.sum.Created++
			} else {
				done.sum.Replaced++
			}
			return im.verifyChunk(ctx, c, r, done)
		}
		sent = sent || storeerr.AnswerLost(err)
		if !mayTryAgain(ctx, err, try) {
			return err
		}
	}
}

// writeChunk creates a chunk, or updates the one whose token is expected.
func (im *importer) writeChunk(ctx context.Context, c warm.Chunk, r *archive.Record, expected string) error {
	if expected != "" {
		_, err := im.side.Warm.Update(ctx, c.Segment, c.Number, c.Payload, expected)
		return err
	}
	if im.o.KeepTokens {
		c.Token = r.Token
	}
	return im.side.Warm.CreateEach(ctx, []warm.Chunk{c})[0].Err
}

func (im *importer) verifyChunk(ctx context.Context, c warm.Chunk, r *archive.Record, done *outcome) error {
	if !im.o.Verify || im.o.DryRun {
		return nil
	}
	there, err := im.side.Warm.Get(ctx, c.Segment, c.Number)
	switch {
	case err != nil && !errors.Is(err, storeerr.NotFound) && !errors.Is(err, storeerr.Integrity):
		return err
	case err != nil || !sameBytes(r, there.Payload):
		done.differs(fmt.Errorf("chunk %d of segment %q was not found as it was written", c.Number, c.Segment))
	}
	return nil
}
