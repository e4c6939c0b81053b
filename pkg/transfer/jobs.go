// Making jobs of records: what is written together, in the order in which it
// comes.

package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
	"unicode/utf8"

	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// The bounds of a job. With them a batch of rows is within its own limits even
// where each row is replaced, and has the longest of versions.
const (
	jobRows   = 500
	jobBlobs  = 16
	jobChunks = 100
	jobBytes  = opaque.MaxBatchBytes/2 - opaque.MaxValueBytes
)

// job is records of one kind that are written together.
type job struct {
	kind    archive.Kind
	records []*archive.Record
	keys    map[string]bool // of rows
	bytes   int64
	line    int64   // of its last record
	sum     Summary // of records that need no write
}

// has tells whether a record has room in the job, and none there of its key.
func (j *job) has(r *archive.Record) bool {
	most := jobRows
	switch j.kind {
	case archive.Blob:
		most = jobBlobs
	case archive.Chunk:
		most = jobChunks
	}
	return len(j.records) == 0 || j.kind == r.Kind && len(j.records) < most && j.bytes+weightOf(r) <= jobBytes && !j.keys[r.Key]
}

// weightOf is what a record counts in a batch. The key counts for its
// condition too.
func weightOf(r *archive.Record) int64 { return int64(len(r.Value) + 2*len(r.Key)) }

func (j *job) add(r *archive.Record) {
	j.kind = r.Kind
	j.records = append(j.records, r)
	j.bytes += weightOf(r)
	if r.Kind == archive.Row {
		j.keys[r.Key] = true
	}
}

func newJob() *job { return &job{keys: map[string]bool{}} }

// jobs yields what there is to do, until the records end, a job fails or ctx
// ends.
func (im *importer) jobs(ctx context.Context, records iter.Seq2[archive.Record, error]) iter.Seq[*job] {
	return func(yield func(*job) bool) {
		j := newJob()
		read := int64(0)
		for record, err := range records {
			if im.failed != nil || ctx.Err() != nil {
				break
			}
			read++
			line := read
			if im.o.Line != nil {
				line = int64(im.o.Line())
			}
			if err == nil {
				err = im.prepare(&record, line)
			}
			if err != nil {
				if im.leavable(err) {
					j.sum.LeftOut++
					im.tell(err)
					j.line = line
					continue
				}
				im.ended = err
				break
			}
			if !im.needsWrite(&record, &j.sum) {
				j.line = line
				continue
			}
			if !j.has(&record) {
				if !yield(j) {
					return
				}
				j = newJob()
			}
			j.add(&record)
			j.line = line
		}
		if err := ctx.Err(); err != nil && im.failed == nil {
			im.ended = fmt.Errorf("importing: %w", err)
			return
		}
		if im.failed == nil && j.line > 0 {
			yield(j)
		}
	}
}

// needsWrite counts a record that is not for writing.
func (im *importer) needsWrite(r *archive.Record, sum *Summary) bool {
	switch {
	case r.History:
		sum.History++
	case !r.Tombstone && r.ExpiresAt > 0 && im.o.Retention == 0 && r.ExpiresAt <= im.now():
		sum.Expired++
	default:
		if r.Kind == archive.Row && !utf8.ValidString(r.Key) {
			sum.NotUTF8++
		}
		return true
	}
	return false
}

// settle does a job.
func (im *importer) settle(ctx context.Context, j *job) outcome {
	done := outcome{line: j.line, sum: j.sum}
	switch {
	case len(j.records) == 0:
	case im.o.check && im.blindTo(j.kind):
		done.sum.Created += int64(len(j.records))
	case j.kind == archive.Row:
		done.err = im.rows(ctx, j.records, &done)
	case j.kind == archive.Blob:
		done.err = im.blobs(ctx, j.records, &done)
	default:
		done.err = im.chunks(ctx, j.records, &done)
	}
	return done
}

// blindTo tells whether nothing at the destination can stop records of a kind
// that are whole: what differs is left, or overwritten, unless it is a blob.
func (im *importer) blindTo(k archive.Kind) bool {
	return im.o.OnConflict == Skip || im.o.OnConflict == Overwrite && (k != archive.Blob || im.o.KeepGoing)
}

// conflict does what the policy asks with a record whose place is taken, and
// tells whether to write it over what is there.
func (im *importer) conflict(sum *Summary, format string, args ...any) (write bool, err error) {
	switch {
	case im.o.OnConflict == Skip:
		sum.Skipped++
		return false, nil
	case im.o.OnConflict == Overwrite:
		return true, nil
	case im.o.DryRun:
		sum.collide(fmt.Errorf(format, args...).Error())
		return false, nil
	}
	return false, storeerr.New(storeerr.Conflict, format, args...)
}

// collide counts a conflict of a dry run.
func (s *Summary) collide(what string) {
	s.Conflicts++
	s.FirstConflict = cmp.Or(s.FirstConflict, what)
}

// tries is how often a write is tried whose condition did not hold or whose
// answer was lost, and pause how long it waits before the last ones.
const (
	tries = 8
	pause = 20 * time.Millisecond
)

// mayTryAgain tells whether looking again finds out what a failed write did:
// others wrote, or the answer was lost or the server not there for a moment.
func mayTryAgain(ctx context.Context, err error, try int) bool {
	lost := storeerr.AnswerLost(err) || errors.Is(err, storeerr.Unavailable)
	if !lost && !errors.Is(err, storeerr.Conflict) || ctx.Err() != nil || try >= tries {
		return false
	}
	if try < 3 {
		return true
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}
