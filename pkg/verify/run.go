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
}

// Open tells whether the finding is still there.
func (r Result) Open() bool { return r.Action != Repaired && r.Action != AlreadySound }

// Run verifies stores one after the other and mends as asked, each finding
// when the walk that found it is over. The last thing yielded may be an error,
// one of storeerr's kinds: Invalid before anything is sent.
func Run(ctx context.Context, rdb redis.UniversalClient, o RunOptions) iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		if err := o.check(); err != nil {
			yield(Result{}, err)
			return
		}
		o.hold = o.mends() && !o.DryRun
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
				var outcome Outcome
				if err == nil {
					outcome, err = o.mend(ctx, f)
				}
				if !yield(Result{f, outcome}, err) || err != nil {
					return
				}
			}
			before = checked
		}
	}
}

// check refuses codes whose mending needs no naming: whoever names one expects
// something else.
func (o RunOptions) check() error {
	for _, code := range o.Destroy {
		switch e := code.entry(); {
		case e.Code == "":
			_, err := ParseCode(string(code))
			return err
		case e.Mending == None:
			return storeerr.New(storeerr.Invalid, "findings of %s are not mended without guessing", code)
		}
	}
	return nil
}

func (o RunOptions) mends() bool { return o.Repair || len(o.Destroy) > 0 }

func (o RunOptions) stores() []Store {
	switch {
	case len(o.Stores) > 0:
		return o.Stores
	case o.Prefix == "":
		return []Store{StoreWarm}
	}
	return Stores()
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
	case !o.mends():
		return Outcome{Action: Reported}, nil
	case !f.Mendable():
		return Outcome{Action: NotMendable}, nil
	case f.Destroys() && !named, !o.Repair && !named:
		return Outcome{Action: NotNamed}, nil
	case o.DryRun:
		return Outcome{Action: WouldRepair, Detail: f.Repair}, nil
	}
	return f.Mend(ctx)
}
