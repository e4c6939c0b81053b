// Importing rows: a batch is written as if none of its rows existed. Where
// that is not so, or the answer was lost, what is there decides.

package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// rowJob is a batch of rows on its way.
type rowJob struct {
	*importer
	done    *outcome
	left    []*rowState       // to be written
	written []*archive.Record // to be read back
}

// rowState is a row that is to be written.
type rowState struct {
	record *archive.Record
	found  string // the version to write over; empty for no live row
	sent   bool   // it was sent, and the answer did not come
}

func (im *importer) rows(ctx context.Context, records []*archive.Record, done *outcome) error {
	j := rowJob{importer: im, done: done}
	for _, r := range records {
		j.left = append(j.left, &rowState{record: r})
	}
	deletes := slices.ContainsFunc(records, func(r *archive.Record) bool { return r.Tombstone })
	look := im.contended.Load() || deletes || im.o.DryRun && !im.noRows
	for try := 1; ; try++ {
		if look {
			if err := j.look(ctx); err != nil {
				return err
			}
		}
		if im.o.DryRun {
			j.count()
			return nil
		}
		err := j.write(ctx)
		if err == nil {
			return j.verify(ctx)
		}
		if j.leaveOut(err) {
			look = false
			continue
		}
		if !mayTryAgain(ctx, err, try) {
			return err
		}
		if errors.Is(err, storeerr.Conflict) {
			im.contended.Store(true)
		}
		look = true
	}
}

// look reads what is there, and keeps what is to be written still.
func (j *rowJob) look(ctx context.Context) error {
	keys := make([]string, len(j.left))
	for i, s := range j.left {
		keys[i] = s.record.Key
	}
	var keep []*rowState
	i := 0
	for reading, err := range j.side.Opaque.ReadEach(ctx, keys) {
		if err != nil {
			return err
		}
		s := j.left[i]
		i++
		write, err := j.judge(s, reading)
		if err = j.refused(err, j.done); err != nil {
			return err
		}
		if write {
			keep = append(keep, s)
		}
	}
	j.left = keep
	return nil
}

// judge tells whether a row is to be written, given what is there.
func (j *rowJob) judge(s *rowState, there opaque.Reading) (write bool, err error) {
	s.found = ""
	switch {
	case there.Err != nil:
		return false, there.Err
	case j.equal(s.record, there, s.sent):
		if s.sent {
			s.count(&j.done.sum)
		} else {
			j.done.sum.Unchanged++
		}
		return false, nil
	case !there.Found:
		return true, nil
	}
	s.found = there.Row.Version
	return j.conflict(&j.done.sum, "key %q has another row", s.record.Key)
}

// equal tells whether what is there is what the record would make of it or,
// where it may be the import's own, has made of it.
func (j *rowJob) equal(r *archive.Record, there opaque.Reading, own bool) bool {
	switch {
	case r.Tombstone || !there.Found:
		return r.Tombstone && !there.Found
	case string(r.Value) != there.Row.Value:
		return false
	case j.o.Retention > 0:
		return j.retained(there.Row.ExpiresAt, j.now(), own)
	}
	return there.Row.ExpiresAt == r.ExpiresAt
}

// write writes what is left, as one batch.
func (j *rowJob) write(ctx context.Context) error {
	if len(j.left) == 0 {
		return nil
	}
	b := opaque.Batch{
		Conditions: make([]opaque.Condition, len(j.left)),
		Mutations:  make([]opaque.Mutation, len(j.left)),
	}
	for i, s := range j.left {
		b.Conditions[i] = opaque.Missing(s.record.Key)
		if s.found != "" {
			b.Conditions[i] = opaque.VersionIs(s.record.Key, s.found)
		}
		b.Mutations[i] = opaque.Put(s.record.Key, string(s.record.Value), j.expiry(s.record))
		if s.record.Tombstone {
			b.Mutations[i] = opaque.Delete(s.record.Key)
		}
	}
	if _, err := j.side.Opaque.Write(ctx, b); err != nil {
		for _, s := range j.left {
			s.sent = s.sent || storeerr.AnswerLost(err)
		}
		return err
	}
	j.count()
	return nil
}

func (im *importer) expiry(r *archive.Record) opaque.Expiry {
	switch {
	case im.o.Retention > 0:
		return opaque.After(im.o.Retention)
	case r.ExpiresAt > 0:
		return opaque.At(r.ExpiresAt)
	}
	return opaque.Never()
}

// count counts all that was left as written.
func (j *rowJob) count() {
	for _, s := range j.left {
		s.count(&j.done.sum)
		j.written = append(j.written, s.record)
	}
	j.left = nil
}

func (s *rowState) count(sum *Summary) {
	switch {
	case s.found == "":
		sum.Created++
	case s.record.Tombstone:
		sum.Deleted++
	default:
		sum.Replaced++
	}
}

// leaveOut takes out the one row for which alone a batch was refused, and
// tells whether the rest may be written without it.
func (j *rowJob) leaveOut(err error) bool {
	key := ""
	if row, ok := errors.AsType[*opaque.DamagedRow](err); ok {
		key = row.Key
	} else if row, ok := errors.AsType[*opaque.RefusedRow](err); ok {
		key = row.Key
	}
	at := slices.IndexFunc(j.left, func(s *rowState) bool { return s.record.Key == key })
	if at < 0 || j.refused(err, j.done) != nil {
		return false
	}
	j.left = slices.Delete(j.left, at, at+1)
	return true
}

// verify reads back what was written.
func (j *rowJob) verify(ctx context.Context) error {
	if !j.o.Verify || len(j.written) == 0 {
		return nil
	}
	keys := make([]string, len(j.written))
	for i, r := range j.written {
		keys[i] = r.Key
	}
	i := 0
	for there, err := range j.side.Opaque.ReadEach(ctx, keys) {
		if err != nil {
			return err
		}
		r := j.written[i]
		i++
		if there.Err != nil || !j.equal(r, there, true) && !j.over(r) {
			j.done.differs(fmt.Errorf("key %q was not found as it was written", r.Key))
		}
	}
	return nil
}

// over tells whether a record has expired meanwhile.
func (im *importer) over(r *archive.Record) bool {
	return im.o.Retention == 0 && r.ExpiresAt > 0 && r.ExpiresAt <= im.now()
}

// sameBytes tells whether a value is what the record has.
func sameBytes(r *archive.Record, value []byte) bool { return bytes.Equal(r.Value, value) }
