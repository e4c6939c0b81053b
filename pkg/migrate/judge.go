// Judging: what a record is worth, and what the current layout has of it.

package migrate

import (
	"context"
	"errors"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/legacy"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// state is what becomes of a record.
type state int

const (
	unjudged state = iota
	gone
	damaged
	tombstone
	expired
	collides
	left
	done
	ready
)

// expiryTolerance is how many ms the expiries of equal records may differ: a
// time to live and the time are two readings.
const expiryTolerance = 1000

// tally counts an item by its state, once that is known.
func (it *item) tally() {
	c := it.count
	c.Found++
	c.Bytes += int64(len(it.Record.Value))
	if it.ambiguous {
		c.Ambiguous++
	}
	if it.notBase64 {
		c.NotBase64++
	}
	switch it.state {
	case gone:
		c.Gone++
	case damaged:
		c.Damaged++
	case tombstone:
		c.Tombstones++
	case expired:
		c.Expired++
	case collides:
		c.Collisions++
	case left:
		c.Kept++
	case done:
		c.Done++
	case ready:
		c.Ready++
	}
}

// damage marks an item that does not read.
func (m *migration) damage(it *item, err error) {
	it.state = damaged
	m.problem(err)
}

func (m *migration) outOfLimits(it *item, format string, args ...any) {
	m.damage(it, storeerr.New(storeerr.Integrity, format, args...).AtKey(it.RedisKey))
}

// judgeOld judges an item by itself.
func (m *migration) judgeOld(it *item) {
	switch {
	case it.Err != nil:
		m.damage(it, it.Err)
	case !it.Found:
		it.state = gone
	case it.tombstone:
		it.state = tombstone
	case it.isExpired():
		it.state = expired
	}
}

func (it *item) isExpired() bool { return it.Record.ExpiresAt > 0 && it.Record.ExpiresAt <= it.Now }

// judgeRows judges rows, by what the current layout has under their keys.
func (m *migration) judgeRows(ctx context.Context, items []item) error {
	var open []*item
	var keys []string
	for i := range items {
		it := &items[i]
		m.judgeOld(it)
		if it.state != unjudged {
			continue
		}
		if m.checkRow(it); it.state == unjudged {
			open = append(open, it)
			keys = append(keys, it.Record.Key)
		}
	}
	if len(open) == 0 {
		return m.judgeIndexed(ctx, items)
	}
	_, readings, err := m.rows.Read(ctx, keys...)
	if err != nil {
		return err
	}
	for i, there := range readings {
		m.judgeRow(open[i], there)
	}
	if err := m.judgeRivals(ctx, open...); err != nil {
		return err
	}
	return m.judgeIndexed(ctx, items)
}

// checkRow holds a row to the limits of the current layout.
func (m *migration) checkRow(it *item) {
	r := it.Record
	switch {
	case r.Key == "" || len(r.Key) > opaque.MaxKeyBytes:
		m.outOfLimits(it, "the key has %d bytes, it may have 1 to %d", len(r.Key), opaque.MaxKeyBytes)
	case len(r.Value) > opaque.MaxValueBytes:
		m.outOfLimits(it, "the value of key %q has %d bytes, the limit is %d", r.Key, len(r.Value), opaque.MaxValueBytes)
	case r.ExpiresAt > opaque.MaxExpiry:
		m.outOfLimits(it, "the expiry of key %q lies past the year 9999", r.Key)
	}
}

func (m *migration) judgeRow(it *item, there opaque.Reading) {
	switch {
	case there.Err != nil:
		m.collide(it, "the row of key %q in the current layout is damaged", it.Record.Key)
	case there.Deleted:
		m.collide(it, "key %q was deleted in the current layout", it.Record.Key)
	case !there.Found:
		it.state = ready
	case there.Row.Value != it.Record.Value:
		m.collide(it, "key %q has another value in the current layout", it.Record.Key)
	case !sameExpiry(there.Row.ExpiresAt, it.Record.ExpiresAt):
		m.collide(it, "key %q has the same value in the current layout, and another expiry", it.Record.Key)
	default:
		it.state = done
	}
}

func (m *migration) collide(it *item, format string, args ...any) {
	it.state = collides
	m.problem(storeerr.New(storeerr.Conflict, format, args...).AtKey(it.RedisKey))
}

func sameExpiry(a, b int64) bool {
	if a == 0 || b == 0 {
		return a == b
	}
	return a-b <= expiryTolerance && b-a <= expiryTolerance
}

// judgeBlob judges a blob, by the one in the current layout.
func (m *migration) judgeBlob(ctx context.Context, it *item) error {
	if m.judgeOld(it); it.state != unjudged {
		return nil
	}
	r := it.Record
	switch {
	case len(r.Value) > blob.MaxPayloadBytes:
		m.outOfLimits(it, "blob %q has %d bytes, the limit is %d", r.Key, len(r.Value), blob.MaxPayloadBytes)
		return nil
	case r.ExpiresAt > blob.MaxRetention:
		m.outOfLimits(it, "the expiry of blob %q is too far away", r.Key)
		return nil
	}
	there, err := m.blobs.Read(ctx, r.Key)
	switch {
	case errors.Is(err, storeerr.NotFound):
		it.state = ready
	case errors.Is(err, storeerr.Integrity):
		m.collide(it, "the blob %q of the current layout is no string", r.Key)
	case err != nil:
		return err
	case string(there.Payload) != r.Value:
		m.collide(it, "blob %q has other bytes in the current layout", r.Key)
	case !sameExpiry(there.ExpiresAt, r.ExpiresAt):
		m.collide(it, "blob %q has the same bytes in the current layout, and another expiry", r.Key)
	default:
		it.state = done
	}
	return nil
}

// blob takes one blob all the way: several may be too much for the memory.
func (m *migration) blob(ctx context.Context, key legacy.Key) error {
	readings, err := legacy.Read(ctx, m.rdb, key)
	if err != nil || readings[0].Foreign {
		return err
	}
	it := item{Reading: readings[0], count: m.count(key.Layout, key.Store)}
	err = m.judgeBlob(ctx, &it)
	if err == nil {
		err = m.judgeRivals(ctx, &it)
	}
	if err != nil {
		return err
	}
	it.tally()
	switch m.mode {
	case applies:
		return m.writeBlob(ctx, &it)
	case retires:
		return m.retireRecords(ctx, []item{it})
	}
	return nil
}
