package transfer

import "context"

// Copy exports from one side and imports into another one, without a file
// between. With the policy Fail it goes through everything once before, and
// nothing is written where something is in the way: the error is an
// [*UntouchedError] then. What [Import] says of being run again holds for
// Copy, too.
func Copy(ctx context.Context, from, to Side, e ExportOptions, i ImportOptions) (Summary, error) {
	if i.OnConflict == Fail && !i.DryRun {
		look, check := e, i
		look.Expect = nil
		check.DryRun, check.Told, check.Progress = true, nil, nil
		sum, err := Import(ctx, to, Export(ctx, from, look), check)
		if err == nil {
			err = sum.conflicts()
		}
		if err != nil {
			return Summary{}, &UntouchedError{err}
		}
	}
	return Import(ctx, to, Export(ctx, from, e), i)
}
