package transfer

import "context"

// Copy exports from one side and imports into another one, without a file
// between. With the policy Fail it goes through everything once before, and
// nothing is written where something is in the way; with Overwrite through the
// blobs, which cannot be overwritten, unless KeepGoing leaves those out. The
// error is an [*UntouchedError] then. What [Import] says of being run again
// holds for Copy, too.
func Copy(ctx context.Context, from, to Side, e ExportOptions, i ImportOptions) (Summary, error) {
	if i.OnConflict == "" {
		i.OnConflict = Fail
	}
	if !i.DryRun {
		if err := checkCopy(ctx, from, to, e, i); err != nil {
			return Summary{}, &UntouchedError{err}
		}
	}
	return Import(ctx, to, Export(ctx, from, e), i)
}

// checkCopy does a dry run of what the destination may refuse.
func checkCopy(ctx context.Context, from, to Side, e ExportOptions, i ImportOptions) error {
	switch {
	case i.OnConflict == Fail:
	case i.OnConflict == Overwrite && from.Blob != nil && !i.KeepGoing:
		from.Opaque, from.Warm = nil, nil
	default:
		return nil
	}
	e.Began, e.Expect = nil, nil
	i.DryRun, i.check, i.Told, i.Progress = true, true, nil, nil
	sum, err := Import(ctx, to, Export(ctx, from, e), i)
	if err != nil {
		return err
	}
	return sum.ConflictOf(i.OnConflict)
}
