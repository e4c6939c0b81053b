// One walk: what it knows, and how it begins and ends.

package migrate

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// mode is what is done with a record when it has been judged.
type mode int

const (
	plans mode = iota
	applies
	retires
)

// migration is one walk.
type migration struct {
	Options
	mode      mode
	rdb       redis.UniversalClient
	rows      *opaque.Store // the current layout
	blobs     *blob.Store
	oldKeys   opaque.Keys // of untagged rows
	counts    map[keyspace.Layout]*Count
	looked    int64
	known     bool    // some key is of the prefix
	indexed   bool    // opaque-v1 has its index
	scans     bool    // and lists of scans
	staying   int64   // rows that are not untagged, where untagged ones move
	aside     int64   // quarantines with old members
	rewritten int64   // rows of which they are, as the plan has seen
	highest   float64 // score of the rows that stay in place
	alone     string  // "1" where no other row stays when the untagged ones go
	held      bool    // a snapshot is open where untagged rows are to go
	decoded   int64   // rows that were rewritten with base64 text decoded

	retiring bool // this is the plan of Retire
}

func newMigration(rdb redis.UniversalClient, o Options, mode mode) (*migration, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	m := migration{Options: o, mode: mode, rdb: rdb, counts: map[keyspace.Layout]*Count{}}
	var err error
	if m.rows, err = opaque.New(rdb, o.To); err != nil {
		return nil, err
	}
	if m.blobs, err = blob.New(rdb, o.To); err != nil {
		return nil, err
	}
	m.oldKeys, err = opaque.NewKeys(o.From)
	return &m, err
}

func (m *migration) run(ctx context.Context) error {
	if err := m.walk(ctx); err != nil {
		return err
	}
	if !m.known {
		moved, err := m.moved(ctx)
		if err != nil || moved {
			return err
		}
		return storeerr.New(storeerr.NotFound, "there is no versioned store and no blob store of prefix %q", m.From).
			WithHint("`keyspacectl prefixes` lists those that the server holds")
	}
	return m.finish(ctx)
}

// moved tells whether all may be retired already, because it went to another
// prefix.
func (m *migration) moved(ctx context.Context) (bool, error) {
	if m.From == m.To || m.mode != retires && !m.retiring {
		return false, nil
	}
	books, err := m.rows.Bookkeeping(ctx)
	if err != nil || books.Counter != "" {
		return err == nil, err
	}
	for _, err := range m.blobs.List(ctx, "") {
		return err == nil, err
	}
	return false, nil
}

func (m *migration) result() []Count {
	var counts []Count
	for _, layout := range Layouts() {
		c := m.counts[layout]
		if layout == keyspace.Untagged && c != nil && c.Found == 0 {
			continue // there are quarantines alone
		}
		if c != nil {
			counts = append(counts, *c)
		}
	}
	return counts
}

// count is that of a layout.
func (m *migration) count(layout keyspace.Layout, store keyspace.Store) *Count {
	if m.counts[layout] == nil {
		m.counts[layout] = &Count{Layout: layout, Store: store}
	}
	return m.counts[layout]
}

func (m *migration) problem(err error) {
	if m.Problem != nil {
		m.Problem(err)
	}
}
