// What cannot be written: records that have no place at the destination, and
// places that take none.

package transfer

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// BadRecord is the cause of an error that concerns one record alone, where the
// records are no lines: what [archive.BadLine] is for an archive. The reason
// names the record.
type BadRecord struct{ Reason error }

// Error says what is wrong with which record.
func (b *BadRecord) Error() string { return b.Reason.Error() }

// Unwrap returns the reason.
func (b *BadRecord) Unwrap() error { return b.Reason }

// leavable tells whether the import goes on without what an error concerns:
// always without what could not be read from a store.
func (im *importer) leavable(err error) bool {
	bad := errors.As(err, new(*archive.BadLine)) || errors.As(err, new(*BadRecord))
	return errors.As(err, new(*SkippedError)) || im.o.KeepGoing && bad
}

// prepare gives a record its place and its end at the destination, and refuses
// one that cannot be there: as storeerr.Invalid where other options would do,
// else as storeerr.Integrity.
func (im *importer) prepare(r *archive.Record, line int64) error {
	if err := im.side.takes(r.Kind); err != nil {
		return err
	}
	old, name, what, err := im.rename(r)
	kind, hint := storeerr.Integrity, ""
	switch {
	case err != nil && name != old:
		err = fmt.Errorf("%s %q becomes %q: %w", what, old, name, err)
		kind, hint = storeerr.Invalid, "map it to another name, or leave it out with --keep-going"
	case err != nil:
	case r.Kind == archive.Row && r.ExpiresAt > opaque.MaxExpiry && im.o.Retention == 0:
		err = fmt.Errorf("the row of key %q expires past the year 9999", r.Key)
	case r.Kind == archive.Blob && r.ExpiresAt == 0 && im.o.Retention == 0:
		err = fmt.Errorf("blob %q has no expiry, and a blob needs one", r.Key)
		kind, hint = storeerr.Invalid, "give it one with --retention, or leave it out with --keep-going"
	default:
		err = im.placed(r, old)
		kind, hint = storeerr.Invalid, "map one of them to another name, or leave the later one out with --keep-going"
	}
	switch {
	case err == nil:
		return nil
	case im.o.Line == nil:
		err, hint = &BadRecord{err}, cmp.Or(hint, "leave it out with --keep-going")
	default:
		err = &archive.BadLine{Line: int(line), Reason: err}
	}
	return storeerr.New(kind, "%w", err).WithHint("%s", hint)
}

// rename gives a record the name that the mappings give it, and tells what of
// it that is a name of, and whether it can be one.
func (im *importer) rename(r *archive.Record) (old, name, what string, err error) {
	if r.Kind == archive.Chunk {
		old, r.Segment = r.Segment, renamed(r.Segment, im.o.Segments)
		return old, r.Segment, "segment", warm.Segment{Namespace: r.Namespace, Name: r.Segment}.Check()
	}
	old, r.Key = r.Key, mapped(r.Key, im.o.Map)
	if r.Kind == archive.Blob {
		return old, r.Key, "blob", blob.CheckReference(r.Key)
	}
	if r.Key == "" || len(r.Key) > opaque.MaxKeyBytes {
		err = fmt.Errorf("the key has %d bytes, it may have 1 to %d", len(r.Key), opaque.MaxKeyBytes)
	}
	return old, r.Key, "key", err
}

// refused keeps an error that concerns one record alone, where the import goes
// on without that.
func (im *importer) refused(err error, done *outcome) error {
	if err == nil || !im.o.KeepGoing || !im.isRefusal(err) {
		return err
	}
	done.sum.LeftOut++
	done.told = append(done.told, err)
	return nil
}

// isRefusal tells whether an error is about what stands at one place of the
// destination: damage, a row that takes no more versions, or something that
// cannot be overwritten.
func (im *importer) isRefusal(err error) bool {
	return errors.Is(err, storeerr.Integrity) || errors.Is(err, storeerr.Backlog) || errors.Is(err, storeerr.Invalid) ||
		im.o.OnConflict == Overwrite && errors.Is(err, storeerr.Conflict)
}
