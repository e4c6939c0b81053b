// Going through several stores, and mending what was asked for.

package verify

import (
	"context"
	"iter"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// RunOptions say what [Run] verifies and what it mends.
type RunOptions struct {
	Options
	Prefix  string  // of the stores; the warm store's may be empty
	Stores  []Store // none means all that the prefix can have
	Repair  bool    // mend what is safe to mend
	Destroy []Code  // mend these as well, although that destroys data
	DryRun  bool    // say what would be mended, and write nothing
}

// Result is a finding and what became of it.
type Result struct {
	Finding
	Outcome
	Err error // of a mend that has [Failed], one of storeerr's kinds
}

// Open tells whether the finding is still there.
func (r Result) Open() bool { return r.Action != Repaired && r.Action != AlreadySound }

// Run verifies stores one after the other and mends as asked, each finding
// when the walk that found it is over. One that the server does not let through
// is told with its finding, and the others go on. The last thing yielded may be an error,
// one of storeerr's kinds: that of [RunOptions.Check] before anything is sent.
func Run(ctx context.Context, rdb redis.UniversalClient, o RunOptions) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		if err := o.Check(); err != nil {
			yield(Result{}, err)
			return
		}
		o.hold = o.Mends() && !o.DryRun
		var before, checked int64
		report := o.Progress
		o.Progress = func(n int64) {
			checked = before + n
			if report != nil {
				report(checked)
			}
		}
		for _, store := range o.stores() {
			for f, err := range o.verify(ctx, rdb, store) {
				r := Result{Finding: f}
				if err == nil {
					r.Outcome, err = o.mend(ctx, f)
				}
				if err != nil && f.concerns(err) {
					r.Action, r.Detail, r.Err, err = Failed, err.Error(), err, nil
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
			before = checked
		}
	}
}

// concerns tells whether an error of mending is of this finding alone: the
// server answered, and may let other mends through.
func (f Finding) concerns(err error) bool {
	switch storeerr.KindOf(err) {
	case storeerr.Denied, storeerr.OutOfMemory, storeerr.Integrity:
		return f.Code != ""
	case storeerr.UnknownOutcome:
		return f.Code != "" && !storeerr.AnswerLost(err)
	}
	return false
}

// Check refuses, as storeerr.Invalid, a prefix that a store cannot have, and
// codes to destroy data for that are never mended.
func (o RunOptions) Check() error {
	for _, store := range o.Stores {
		if err := store.check(o.Prefix); err != nil {
			return err
		}
	}
	if len(o.stores()) == 0 {
		return storeerr.New(storeerr.Invalid, "no store can have the prefix %q", o.Prefix)
	}
	for _, code := range o.Destroy {
		if _, err := ParseCode(string(code)); err != nil {
			return err
		}
		if code.entry().Mending == None {
			return storeerr.New(storeerr.Invalid, "findings of %s are not mended: it would be a guess", code)
		}
	}
	return nil
}

// Mends tells whether anything is to be mended, or would be but for DryRun.
func (o RunOptions) Mends() bool { return o.Repair || len(o.Destroy) > 0 }

// stores are those named, or all that the prefix can have.
func (o RunOptions) stores() []Store {
	if len(o.Stores) > 0 {
		return o.Stores
	}
	return slices.DeleteFunc(Stores(), func(s Store) bool { return s.check(o.Prefix) != nil })
}

func (o RunOptions) verify(ctx context.Context, rdb redis.UniversalClient, store Store) iter.Seq2[Finding, error] {
	switch store {
	case StoreBlob:
		return Blobs(ctx, rdb, o.Prefix, o.Options)
	case StoreWarm:
		return Warm(ctx, rdb, o.Prefix, o.Options)
	}
	return Opaque(ctx, rdb, o.Prefix, o.Options)
}

// mend does to a finding what the options ask for.
func (o RunOptions) mend(ctx context.Context, f Finding) (Outcome, error) {
	named := slices.Contains(o.Destroy, f.Code)
	switch {
	case !o.Mends():
		return Outcome{Action: Reported}, nil
	case !f.Mendable():
		return Outcome{Action: NotMendable}, nil
	case !named && (f.Destroys() || !o.Repair):
		return Outcome{Action: NotNamed}, nil
	case o.DryRun:
		return Outcome{Action: WouldRepair, Detail: f.Repair}, nil
	}
	return f.Mend(ctx)
}
