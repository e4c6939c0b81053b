// Importing an archive: it is read once to see that it is whole and that
// nothing stands in its way, and then once more to write it.

package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// ReadOptions says how an archive is imported.
type ReadOptions struct {
	ImportOptions
	What    Selection   // what is imported of it; without stores, all that it has
	Partial bool        // take what can be read of one that is not whole
	Expect  func(int64) // told how many records there are, once that is known, or nil
}

// ReadArchive imports into a side what stands behind the header of an archive.
// Where again begins to read the archive anew, as a file allows, nothing is
// written unless all of it reads and nothing conflicts: with the policy Fail
// whatever differs, with Overwrite a blob of other bytes. The error is an
// [*UntouchedError] then. Where again is nil, as for a pipe, the archive is
// checked on the way: what stands before damage is written.
//
// An archive that is damaged is storeerr.Integrity with archive.ErrDamaged in
// the chain, and a bad line is that with an *archive.BadLine, or with it
// storeerr.Invalid where the line is bad only with these options. Told hears the
// doubts about an archive that was read to its end, too.
func ReadArchive(ctx context.Context, side Side, r *archive.Reader, again func() (*archive.Reader, error), o ReadOptions) (Summary, error) {
	if again != nil && !o.DryRun {
		err := checkArchive(ctx, side, r, o)
		if err == nil {
			r, err = again()
		}
		if err != nil {
			return Summary{}, err
		}
	}
	return importArchive(ctx, side, r, o)
}

// UntouchedError is why an import or a copy did not begin.
type UntouchedError struct{ Err error }

// Error says that nothing was written, and why.
func (u *UntouchedError) Error() string { return fmt.Sprintf("nothing was written: %v", u.Err) }

// Unwrap returns the cause.
func (u *UntouchedError) Unwrap() error { return u.Err }

// checkArchive does a dry run, which looks at the destination where that may
// refuse.
func checkArchive(ctx context.Context, side Side, r *archive.Reader, o ReadOptions) error {
	o.DryRun, o.check, o.Told, o.Progress = true, true, nil, nil
	sum, err := importArchive(ctx, side, r, o)
	damaged := errors.Is(err, archive.ErrDamaged) || errors.As(err, new(*archive.BadLine))
	if err == nil || damaged && o.Partial {
		err = sum.ConflictOf(o.OnConflict)
	}
	if err != nil {
		return &UntouchedError{err}
	}
	if o.Expect != nil {
		o.Expect(sum.Done())
	}
	return nil
}

// immutableHint says what can be done about a blob of other bytes.
const immutableHint = "a blob is never overwritten: delete it with blob delete, or leave what is there with --on-conflict skip or --keep-going"

// ConflictOf is the error of the conflicts that a dry run with a policy
// counted, nil where there are none.
func (s *Summary) ConflictOf(p Policy) error {
	if s.Conflicts == 0 {
		return nil
	}
	hint := "--on-conflict skip leaves what is there, --on-conflict overwrite puts new versions over it"
	if p == Overwrite {
		hint = immutableHint
	}
	return storeerr.New(storeerr.Conflict, "%d of %d records conflict, the first: %s", s.Conflicts, s.Done(), s.FirstConflict).
		WithHint("%s", hint)
}

func importArchive(ctx context.Context, side Side, r *archive.Reader, o ReadOptions) (Summary, error) {
	if len(o.What.Stores) == 0 {
		o.What = SelectionOf(r.Header())
	}
	for _, store := range o.What.Stores {
		if !slices.Contains(side.Stores(), store) {
			return Summary{}, storeerr.New(storeerr.Invalid, "the prefix %q can have no %s store, and the archive has one", side.Prefix, store).
				WithHint("name with --store what is to be imported")
		}
	}
	source, err := FromArchive(r, o.What)
	if err != nil {
		return Summary{}, err
	}
	o.Line = r.Line
	sum, err := Import(ctx, side, source.Records, o.ImportOptions)
	if o.Told != nil {
		for _, doubt := range r.Doubts() {
			o.Told(doubt)
		}
	}
	return sum, err
}
