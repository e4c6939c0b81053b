// What an archive says of all its lines together: which stores they are of, and
// the order in which they stand.

package transfer

import (
	"fmt"
	"iter"
	"slices"

	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// checked yields the records of an archive, and makes those bad lines that the
// header does not tell of, and that do not come behind the one before them:
// which of two records of one key is meant, nobody knows.
func checked(r *archive.Reader) iter.Seq2[archive.Record, error] {
	return func(yield func(archive.Record, error) bool) {
		p := place{stores: r.Header().Stores}
		for record, err := range r.Records() {
			if err == nil {
				if err = p.advance(IDOf(&record), record.History, r.Line()); err != nil {
					record = archive.Record{}
					err = storeerr.New(storeerr.Integrity, "%w", &archive.BadLine{Line: r.Line(), Reason: err})
				}
			}
			if !yield(record, err) {
				return
			}
		}
	}
}

// place stands at the last record of an archive that was in its order.
type place struct {
	stores []string
	last   ID
	line   int // of it, 0 before the first one
}

// advance goes on to a record, or says why that cannot be there. An older
// version of a row may follow that, or another one of it.
func (p *place) advance(id ID, history bool, line int) error {
	if store := StoreOf(id.Kind); !slices.Contains(p.stores, store) {
		return fmt.Errorf("%s is of the %s store, which the header does not name", id, store)
	}
	order := id.Compare(p.last)
	switch {
	case p.line == 0 || order > 0:
		p.last, p.line = id, line
	case order < 0:
		return fmt.Errorf("it is out of order: %s comes behind %s, line %d", id, p.last, p.line)
	case !history:
		return fmt.Errorf("%s is in line %d already", id, p.line)
	}
	return nil
}
