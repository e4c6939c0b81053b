// What a command skips because it is damaged or refuses a write: each is told,
// and the command goes on to the end.

package cmd

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// olderTold is how many rows of an older layout are named. Where there is one,
// mostly all are.
const olderTold = 3

// damage counts rows, or what else it says, that were skipped, each told on the
// standard error: because they are damaged, or because they refuse a write.
type damage struct {
	what    string // one of them; empty means row
	damaged int
	older   int // of the damaged, those of an older layout
	refused int
}

func (d *damage) add(f *Factory, err error) {
	if storeerr.KindOf(err) == storeerr.Backlog {
		d.refused++
	} else {
		d.damaged++
	}
	if row, ok := errors.AsType[*opaque.DamagedRow](err); ok && row.Older {
		d.older++
		if d.older == olderTold+1 {
			f.warn("further rows of the older layout are counted, and not named")
		}
		if d.older > olderTold {
			return
		}
	}
	f.warn("skipped: %v", err)
}

// skip tells whether err concerns one row alone, and counts it.
func (d *damage) skip(f *Factory, err error) bool {
	if !errors.As(err, new(*opaque.DamagedRow)) {
		return false
	}
	d.add(f, err)
	return true
}

// err is what the command fails with in the end, nil where nothing was skipped.
func (d *damage) err() error {
	switch skipped := count(d.damaged, "damaged "+cmp.Or(d.what, "row")); {
	case d.older > 0:
		return storeerr.New(storeerr.Integrity, "skipped %s, %d of them of the layout without a format tag", skipped, d.older).
			WithHint("`keyspacectl migrate` brings them into the current layout")
	case d.damaged > 0:
		return storeerr.New(storeerr.Integrity, "skipped %s", skipped)
	case d.refused > 0:
		return storeerr.New(storeerr.Backlog, "skipped %s that open snapshots hold back", count(d.refused, cmp.Or(d.what, "row"))).
			WithHint("see `keyspacectl snapshot list`; end a snapshot, or wait until it ends")
	}
	return nil
}

// count is a number of things in words: "1 row", "2 rows".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
