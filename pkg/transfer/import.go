package transfer

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/servers"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Policy says what an import does where the destination holds something else.
type Policy string

// The policies. What is equal already is left alone by all of them; with a
// retention, only Overwrite minds when it ends.
const (
	Fail      Policy = "fail"      // stop
	Skip      Policy = "skip"      // leave what is there
	Overwrite Policy = "overwrite" // put a new version over it, unless it is a blob of other bytes
)

// Policies returns the names of all policies.
func Policies() []Policy { return []Policy{Fail, Skip, Overwrite} }

// ImportOptions says how records are written.
type ImportOptions struct {
	OnConflict Policy        // the zero Policy is Fail
	Map        []Mapping     // of keys and references
	Segments   []Mapping     // of the names of segments, whole ones
	Retention  time.Duration // in place of the expiry of each row and blob, with Overwrite also of equal ones that are there; 0 keeps that
	KeepTokens bool          // give chunks that are created the tokens of their records
	KeepGoing  bool          // leave out bad lines and what cannot be written, and go on
	DryRun     bool          // count what would happen, and change nothing
	Verify     bool          // read back what was written
	Line       func() int    // the line of the record that was yielded last, or nil

	Told     func(error)   // told of each record or line that is left out or differs, or nil
	Progress func(Summary) // told of what is done, now and then, or nil

	check bool // a dry run that looks at the destination only where that may refuse
}

// Summary counts what an import did with the records that it is done with. In
// a dry run it counts what would be done.
type Summary struct {
	Now       int64 // the server's time, about: ms since the epoch
	Created   int64 // did not exist and do now
	Replaced  int64 // others that were there have a new version
	Deleted   int64 // live rows that are tombstones now
	Unchanged int64 // equal already, left alone
	Skipped   int64 // differ, and were left as they are
	Conflicts int64 // differ, in a dry run that would have stopped there
	Expired   int64 // over by the server's clock, not written
	History   int64 // older versions, which an import passes over
	LeftOut   int64 // could not be read or written
	Differ    int64 // were not found as they were written
	NotUTF8   int64 // keys that other drivers cannot address
	// FirstConflict describes the first of the conflicts.
	FirstConflict string
	// Line is the last line up to which everything is done, if the options know
	// of lines; else the number of records.
	Line int64
}

// Written is how many records changed something.
func (s *Summary) Written() int64 { return s.Created + s.Replaced + s.Deleted }

// Done is how many records the import is done with.
func (s *Summary) Done() int64 {
	return s.Written() + s.Unchanged + s.Skipped + s.Conflicts + s.Expired + s.History + s.LeftOut
}

func (s *Summary) add(o Summary) {
	s.Now = max(s.Now, o.Now)
	s.Created += o.Created
	s.Replaced += o.Replaced
	s.Deleted += o.Deleted
	s.Unchanged += o.Unchanged
	s.Skipped += o.Skipped
	s.Conflicts += o.Conflicts
	s.Expired += o.Expired
	s.History += o.History
	s.LeftOut += o.LeftOut
	s.Differ += o.Differ
	s.NotUTF8 += o.NotUTF8
	s.FirstConflict = cmp.Or(s.FirstConflict, o.FirstConflict)
}

const (
	jobsAhead   = 6       // jobs under way
	weightAhead = 8 << 20 // bytes of values in them, but always one job
	lingering   = time.Second
)

// Import writes records to a side, in batches of which several are under way.
// A batch of rows is atomic; blobs and chunks are each written by themselves.
// Every write holds only while the destination is as it was found, so what
// others write meanwhile is not lost, and an import that is run again, after
// whatever ended it, changes nothing that is right already.
//
// It stops at the first error: of the records, behind what stands before it;
// storeerr.Conflict, where the policy is Fail; one that cannot be written, such
// as a blob over one of other bytes,
// unless KeepGoing leaves it out; or of the connection. What [Export] yields as
// a [*SkippedError] is left out. What is under way then
// is waited for, also when ctx ends, for a second. The summary counts exactly
// what is done; only storeerr.UnknownOutcome leaves the fate of a batch open.
func Import(ctx context.Context, side Side, records iter.Seq2[archive.Record, error], o ImportOptions) (Summary, error) {
	if o.OnConflict == "" {
		o.OnConflict = Fail
	}
	now, err := side.now(ctx)
	if err != nil {
		return Summary{}, err
	}
	im := &importer{side: side, o: o, started: time.Now(), startedAt: now, sum: Summary{Now: now}}
	if o.DryRun && side.Opaque != nil {
		books, err := side.Opaque.Bookkeeping(ctx)
		if err != nil {
			return im.sum, err
		}
		im.noRows = !books.Exists()
	}
	// Where a server does not tell, nothing is known of others taking over.
	masters, _ := servers.RunIDs(ctx, side.rdb)
	work, release := outliving(ctx, lingering)
	defer release()
	weight := func(j *job) int64 { return j.bytes }
	for done := range ahead(work, im.jobs(ctx, records), jobsAhead, weightAhead, weight, im.settle) {
		im.finished(done)
	}
	if im.failed == nil {
		im.failed = im.ended
	}
	if side.Opaque != nil && im.sum.Written() > 0 && !o.DryRun {
		// A bounded pass, as behind every write; its failure is nobody's business.
		_, _ = side.Opaque.Collect(work, opaque.PassSize)
	}
	if im.failed == nil && im.sum.Written() > 0 && !o.DryRun && takenOver(work, side, masters) {
		im.failed = &TakenOverError{}
	}
	im.sum.Now = im.now()
	return im.sum, im.failed
}

// TakenOverError is why an import that wrote everything cannot vouch for it:
// replication is asynchronous, so a replica that becomes the master may lack
// what the one before it took last, and a server that was started again what it
// had not saved.
type TakenOverError struct{}

// Error says what happened.
func (*TakenOverError) Error() string {
	return "a server was started again or gave way to its replica meanwhile, and what it took last may be lost"
}

// takenOver tells whether one of the servers that there were is none any more.
func takenOver(ctx context.Context, side Side, before []string) bool {
	after, err := servers.RunIDs(ctx, side.rdb)
	if err != nil || len(after) == 0 {
		return false
	}
	return slices.ContainsFunc(before, func(id string) bool { return !slices.Contains(after, id) })
}

// outliving returns a context that ends a while after ctx does, so that what
// is under way can come to its end.
func outliving(ctx context.Context, while time.Duration) (context.Context, func()) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(while, cancel) })
	return work, func() {
		stop()
		cancel()
	}
}

type importer struct {
	side      Side
	o         ImportOptions
	started   time.Time
	startedAt int64 // the server's time then
	noRows    bool  // there is no row that could be in the way

	gone      hashes      // records before that one behind may be mapped onto
	contended atomic.Bool // rows exist: look before writing

	sum    Summary
	hole   bool  // a job is not done whole: lines behind it do not count
	failed error // of the first job that failed
	ended  error // of the records
}

// now is the server's time by now, ms since the epoch.
func (im *importer) now() int64 { return im.startedAt + time.Since(im.started).Milliseconds() }

// outcome is what became of a job.
type outcome struct {
	sum  Summary
	line int64
	told []error // of single records
	err  error
}

// differs counts a record that was not found as it was written.
func (o *outcome) differs(err error) {
	o.sum.Differ++
	o.told = append(o.told, storeerr.New(storeerr.Integrity, "%w", err))
}

// finished counts a job that is done, in the order of the jobs.
func (im *importer) finished(done outcome) {
	im.sum.add(done.sum)
	for _, err := range done.told {
		im.tell(err)
	}
	if done.err != nil {
		im.hole = true
		if im.failed == nil {
			im.failed = done.err
		}
	}
	if !im.hole {
		im.sum.Line = done.line
	}
	if im.o.Progress != nil {
		im.o.Progress(im.sum)
	}
}

func (im *importer) tell(err error) {
	if im.o.Told != nil {
		im.o.Told(err)
	}
}

// takes returns an error where no store of the side takes a kind of record.
func (s Side) takes(k archive.Kind) error {
	switch {
	case k == archive.Row && s.Opaque != nil, k == archive.Blob && s.Blob != nil, k == archive.Chunk && s.Warm != nil:
		return nil
	}
	return storeerr.New(storeerr.Invalid, "there is a %s, and the %s store of prefix %q takes no part", k, StoreOf(k), s.Prefix)
}
