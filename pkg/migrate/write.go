// Writing: into the current layout, and never over anything newer.

package migrate

import (
	"context"
	"errors"
	"slices"

	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// batchBytes bounds the values of one batch.
const batchBytes = 3 << 20

// takeRows judges rows and does what the mode says.
func (m *migration) takeRows(ctx context.Context, items []item) error {
	if err := m.judgeRows(ctx, items); err != nil {
		return err
	}
	for i := range items {
		items[i].tally()
	}
	switch m.mode {
	case applies:
		return m.writeRows(ctx, items)
	case retires:
		return m.retireRecords(ctx, items)
	}
	return nil
}

// writeRows writes the rows that are ready, in batches that apply only while
// none of their keys has a live row.
func (m *migration) writeRows(ctx context.Context, items []item) error {
	var batch []*item
	size := 0
	for i := range items {
		it := &items[i]
		if it.state != ready {
			continue
		}
		// A key comes twice where two layouts have it, or SCAN says it twice.
		again := slices.ContainsFunc(batch, func(other *item) bool { return other.Record.Key == it.Record.Key })
		if size += len(it.Record.Value); len(batch) > 0 && (again || size > batchBytes) {
			if err := m.writeBatch(ctx, batch); err != nil {
				return err
			}
			batch, size = nil, len(it.Record.Value)
		}
		batch = append(batch, it)
	}
	if len(batch) == 0 {
		return nil
	}
	return m.writeBatch(ctx, batch)
}

// writeBatch writes rows together, or where that is refused one by one.
func (m *migration) writeBatch(ctx context.Context, batch []*item) error {
	err := m.write(ctx, batch)
	if !concernsOne(err) {
		return err
	}
	for _, it := range batch {
		if len(batch) > 1 {
			err = m.write(ctx, []*item{it})
		}
		if concernsOne(err) {
			err = m.rejudge(ctx, it)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// concernsOne tells a refusal because of a row from what ends the migration.
func concernsOne(err error) bool {
	return errors.Is(err, storeerr.Conflict) || errors.As(err, new(*opaque.DamagedRow))
}

func (m *migration) write(ctx context.Context, batch []*item) error {
	var b opaque.Batch
	for _, it := range batch {
		expiry := opaque.Never()
		if it.Record.ExpiresAt > 0 {
			expiry = opaque.At(it.Record.ExpiresAt)
		}
		b.Conditions = append(b.Conditions, opaque.Missing(it.Record.Key))
		b.Mutations = append(b.Mutations, opaque.Put(it.Record.Key, it.Record.Value, expiry))
	}
	if _, err := m.rows.Write(ctx, b); err != nil {
		return err
	}
	for _, it := range batch {
		it.count.Ready--
		it.count.Written++
	}
	return nil
}

// rejudge looks again at a row that was not written: somebody else wrote it
// meanwhile.
func (m *migration) rejudge(ctx context.Context, it *item) error {
	_, there, err := m.rows.Read(ctx, it.Record.Key)
	if err != nil {
		return err
	}
	m.judgeRow(it, there[0])
	if it.state == ready {
		// It was there, and is there no longer.
		m.collide(it, "key %q changed while it was looked at", it.Record.Key)
	}
	it.count.Ready--
	if it.state == done {
		it.count.Done++
	} else {
		it.count.Collisions++
	}
	return nil
}

// writeBlob writes a blob that is ready.
func (m *migration) writeBlob(ctx context.Context, it *item) error {
	if it.state != ready {
		return nil
	}
	stored, err := m.blobs.PutUntil(ctx, it.Record.Key, []byte(it.Record.Value), it.Record.ExpiresAt)
	switch {
	case errors.Is(err, storeerr.Conflict):
		it.count.Collisions++
		m.collide(it, "blob %q has other bytes in the current layout", it.Record.Key)
	case err != nil:
		return err
	case sameExpiry(stored.ExpiresAt, it.Record.ExpiresAt):
		it.count.Written++
	default:
		it.count.Collisions++
		m.collide(it, "blob %q has the same bytes in the current layout, and another expiry", it.Record.Key)
	}
	it.count.Ready--
	return nil
}
