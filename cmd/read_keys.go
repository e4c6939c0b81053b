// Reading many keys: read --keys-from.

package cmd

import (
	"context"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// readBatch is how many keys are read at one moment: with values of the full
// size they are 64 MiB.
const readBatch = 64

func (o *readOptions) runKeys(ctx context.Context, f *Factory) error {
	fields := rowFields()
	if o.decode {
		fields = decodedFields()
	}
	fields.Raw = ""
	out, err := f.printer(fields)
	if err != nil {
		return err
	}
	file, store, err := f.linesInto(o.from.file, reads)
	if err != nil {
		return err
	}
	progress := f.progress("keys")
	defer progress.Stop()
	var all tally
	var keys []string
	read := func() error {
		if len(keys) == 0 {
			return nil
		}
		now, readings, err := store.Read(ctx, keys...)
		if err != nil {
			return err
		}
		progress.Add(int64(len(keys)))
		keys = keys[:0]
		out.SetNow(now)
		return o.print(f, out, readings, &all)
	}
	for l, err := range linesOf(file, func(line []byte) (string, error) { return o.from.parse(f, line) }) {
		if err == nil {
			if keys = append(keys, l.item); len(keys) < readBatch {
				continue
			}
			err = read()
		} else if readErr := read(); readErr != nil {
			err = readErr // it comes before the line that is wrong
		}
		if err != nil {
			return stopped(out, partial(err, all.keys > 0, "read %d keys, up to line %[1]d", all.keys))
		}
	}
	if err := read(); err != nil {
		return stopped(out, partial(err, all.keys > 0, "read %d keys, up to line %[1]d", all.keys))
	}
	progress.Stop()
	if err := out.End(); err != nil {
		return err
	}
	return all.err()
}

// tally counts readings by what became of them.
type tally struct {
	damage
	keys    int
	missing int
}

// err is what the command fails with in the end: for what is damaged before
// what is missing.
func (t *tally) err() error {
	if err := t.damage.err(); err != nil {
		return err
	}
	if t.missing > 0 {
		return silent{storeerr.New(storeerr.NotFound, "%d of %d keys have no live row", t.missing, t.keys)}
	}
	return nil
}
