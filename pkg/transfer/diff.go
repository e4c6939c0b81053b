// Comparing two ordered streams of records, in the memory of one record each.

package transfer

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// DefaultExpiryTolerance is how far apart the expiries of two records may lie
// that count as equal: an expiry is often shown as what was left of it.
const DefaultExpiryTolerance = time.Second

// DiffOptions say what counts as a difference.
type DiffOptions struct {
	// ExpiryTolerance is how far apart two expiries may lie. An expiry and none
	// always differ.
	ExpiryTolerance time.Duration
	// Versions compares the versions of rows and the tokens of chunks too.
	Versions bool
	// LeftNow and RightNow, where they are not nil, return the time at a side in
	// ms since the epoch. A record whose expiry has passed at the side that lacks
	// it is no difference.
	LeftNow, RightNow func() int64
	// Tally, if not nil, is kept up to date with what was compared so far, and
	// Progress, if not nil, told now and then.
	Tally    *Tally
	Progress func(Tally)
}

// Diff yields how the right side differs from the left one, in the order of
// [ID.Compare], in which both must come. Of each side it holds one record at a
// time. Tombstones count as absent, and older versions of rows are passed over.
//
// A [*SkippedError] concerns the record alone that comes beside it: it is
// yielded with its ID, and the diff goes on. Any other error is the last thing yielded, of the kind that it has on its side; a
// side that is out of order is storeerr.Integrity.
func Diff(ctx context.Context, left, right iter.Seq2[archive.Record, error], o DiffOptions) iter.Seq2[Difference, error] {
	return func(yield func(Difference, error) bool) {
		d := merge{DiffOptions: o, yield: yield}
		if d.Tally == nil {
			d.Tally = new(Tally)
		}
		stopLeft, stopRight := d.left.open("left", left), d.right.open("right", right)
		defer stopLeft()
		defer stopRight()
		for {
			if err := cmp.Or(d.advance(), ctx.Err()); err != nil {
				yield(Difference{}, err)
				return
			}
			if !d.left.has && !d.right.has || !d.compare() {
				return
			}
			if n := d.Tally.Compared(); d.Progress != nil && n%progressEvery == 0 {
				d.Progress(*d.Tally)
			}
		}
	}
}

// merge stands at the next record of both sides.
type merge struct {
	DiffOptions
	yield       func(Difference, error) bool
	left, right diffSide
}

// advance makes both streams stand at a record that is not compared yet.
func (d *merge) advance() error {
	if err := d.left.advance(); err != nil {
		return err
	}
	return d.right.advance()
}

// compare takes the lower record, or both where they are the same one, and
// reports whether to go on.
func (d *merge) compare() bool {
	order := d.left.id.Compare(d.right.id)
	onLeft := d.left.has && (!d.right.has || order <= 0)
	onRight := d.right.has && (!d.left.has || order >= 0)
	found := Difference{ID: d.right.id}
	if onLeft {
		found.ID, d.left.taken = d.left.id, true
	}
	if onRight {
		d.right.taken = true
	}
	if onLeft && d.left.damage != nil || onRight && d.right.damage != nil {
		d.Tally.Damaged++
		return (!onLeft || d.tell(found, &d.left)) && (!onRight || d.tell(found, &d.right))
	}
	switch {
	case !onRight:
		return d.missing(found, &d.left.record, OnlyLeft, &d.Tally.OnlyLeft, d.RightNow)
	case !onLeft:
		return d.missing(found, &d.right.record, OnlyRight, &d.Tally.OnlyRight, d.LeftNow)
	}
	return d.both(found)
}

// tell yields why a record could not be read, if it could not.
func (d *merge) tell(found Difference, side *diffSide) bool {
	return side.damage == nil || d.yield(found, side.damage)
}

// missing yields a record that one side lacks, whose time is now.
func (d *merge) missing(found Difference, r *archive.Record, change Change, tally *int64, now func() int64) bool {
	if now != nil && r.ExpiresAt > 0 && r.ExpiresAt <= now() {
		d.Tally.Expired++
		return true
	}
	*tally++
	found.Change = change
	if change == OnlyLeft {
		found.Left = factsOf(r)
	} else {
		found.Right = factsOf(r)
	}
	return d.yield(found, nil)
}

// both yields a record of both sides unless they have it alike.
func (d *merge) both(found Difference) bool {
	left, right := &d.left.record, &d.right.record
	if !bytes.Equal(left.Value, right.Value) {
		found.Aspects = append(found.Aspects, AspectValue)
	}
	if d.expiriesDiffer(left.ExpiresAt, right.ExpiresAt) {
		found.Aspects = append(found.Aspects, AspectExpiry)
	}
	if d.Versions && left.Version != right.Version {
		found.Aspects = append(found.Aspects, AspectVersion)
	}
	if d.Versions && left.Token != right.Token {
		found.Aspects = append(found.Aspects, AspectToken)
	}
	if found.Aspects == nil {
		d.Tally.Equal++
		return true
	}
	d.Tally.Different++
	found.Change, found.Left, found.Right = Different, factsOf(left), factsOf(right)
	return d.yield(found, nil)
}

func (d *merge) expiriesDiffer(left, right int64) bool {
	if left == 0 || right == 0 {
		return left != right
	}
	return max(left, right)-min(left, right) > d.ExpiryTolerance.Milliseconds()
}

// diffSide stands at a record of a side.
type diffSide struct {
	side   string
	next   func() (archive.Record, error, bool)
	record archive.Record
	id     ID
	damage error // why the record could not be read
	has    bool  // there is a record
	taken  bool  // it has been compared
	begun  bool
}

func (c *diffSide) open(side string, records iter.Seq2[archive.Record, error]) (stop func()) {
	c.side, c.taken = side, true
	c.next, stop = iter.Pull2(records)
	return stop
}

// advance goes on to the next record that counts, if this one was taken.
func (c *diffSide) advance() error {
	for c.taken {
		c.record = archive.Record{} // its memory is free before the next one comes
		record, err, ok := c.next()
		switch {
		case !ok:
			c.has, c.taken = false, false
			return nil
		case err != nil && (record.Kind == "" || !errors.As(err, new(*SkippedError))):
			return fmt.Errorf("the %s side: %w", c.side, err)
		case record.History:
			continue
		}
		id := IDOf(&record)
		if c.begun && c.id.Compare(id) >= 0 {
			return storeerr.New(storeerr.Integrity, "the %s side is out of order: %s comes behind %s", c.side, id, c.id)
		}
		c.id, c.record, c.begun, c.has, c.damage = id, record, true, true, nil
		if err != nil {
			c.damage = fmt.Errorf("the %s side: %w", c.side, err)
		}
		c.taken = record.Tombstone && err == nil
	}
	return nil
}
