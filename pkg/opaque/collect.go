package opaque

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// PassSize is how many due keys a bounded pass looks at: as many as other
// drivers do inside each of their writes and scans.
const PassSize = 32

// DefaultCollectBatch is how many due keys CollectAll hands to one script.
const DefaultCollectBatch = 256

// MaxCollectBatch bounds what one script of CollectAll works on.
const MaxCollectBatch = 2048

// Collected counts what a collection did.
type Collected struct {
	EndedSnapshots  int64 // snapshots that had run out and were taken out
	Due             int64 // keys looked at
	RemovedRows     int64 // rows that vanished, with their entries
	RemovedEntries  int64 // entries of rows that were gone already
	DroppedVersions int64 // versions that nothing can read any more
	HeldBack        int64 // keys that open snapshots keep due
	DamagedRows     int64 // rows left as they are
}

// Collect does one bounded pass over at most limit keys that are due.
func (s *Store) Collect(ctx context.Context, limit int) (Collected, error) {
	var c Collected
	_, due, err := s.due(ctx, "-inf", "", 0, limit)
	if err != nil {
		return c, err
	}
	_, err = s.collect(ctx, &c, membersOf(due))
	return c, err
}

// CollectOptions bounds CollectAll.
type CollectOptions struct {
	Batch    int             // keys a script, 1 to MaxCollectBatch; 0 is DefaultCollectBatch
	DryRun   bool            // counts what would be done, and changes nothing
	Progress func(Collected) // called after each batch, or nil
	Damaged  func(error)     // told of each damaged row, with a *DamagedRow in its chain, or nil
}

// CollectAll takes out the snapshots that have run out and works off every
// key that was due when it began, each once. On an error the counts say what
// was done before it.
func (s *Store) CollectAll(ctx context.Context, o CollectOptions) (Collected, error) {
	var c Collected
	if o.Batch == 0 {
		o.Batch = DefaultCollectBatch
	}
	if o.Batch < 1 || o.Batch > MaxCollectBatch {
		return c, storeerr.New(storeerr.Invalid, "a batch has 1 to %d keys, not %d", MaxCollectBatch, o.Batch)
	}
	collect := s.collect
	if o.DryRun {
		f, err := s.foresee(ctx, &c)
		if err != nil {
			return c, err
		}
		collect = f.collect
	} else if err := s.endSnapshots(ctx, &c); err != nil {
		return c, err
	}
	walk := dueWalk{batch: o.Batch}
	for {
		keys, err := walk.next(ctx, s)
		if err != nil || len(keys) == 0 {
			return c, err
		}
		done, err := collect(ctx, &c, keys)
		if err != nil {
			return c, err
		}
		walk.stayed(done.stay)
		for _, err := range done.damaged {
			if o.Damaged != nil {
				o.Damaged(err)
			}
		}
		if o.Progress != nil {
			o.Progress(c)
		}
	}
}

// endSnapshots takes out every snapshot that has run out.
func (s *Store) endSnapshots(ctx context.Context, c *Collected) error {
	for {
		before := c.EndedSnapshots
		if _, err := s.collect(ctx, c, nil); err != nil || c.EndedSnapshots == before {
			return err
		}
	}
}

// work is what a batch leaves behind.
type work struct {
	stay    map[string]bool // keys that are still in the queue at their score
	damaged []error         // rows left as they are, each with a *DamagedRow
}

// collect works on keys by script, and adds to the counts.
func (s *Store) collect(ctx context.Context, c *Collected, keys []string) (work, error) {
	names, args := s.collectKeys(), make([]any, 0, len(keys))
	for _, key := range keys {
		names = append(names, s.keys.Row(key))
		args = append(args, key)
	}
	reply, err := luascripts.Must("opaque_collect").Run(ctx, s.rdb, names, args...).StringSlice()
	if err != nil {
		return work{}, storeerr.FromRedis(err, storeerr.Writes, "collecting")
	}
	if reply[0] == "integrity" {
		return work{}, s.bookkeeping(names, reply)
	}
	ended, err := strconv.ParseInt(reply[0], 10, 64)
	if err != nil {
		return work{}, fmt.Errorf("reading the answer: %w", err)
	}
	c.EndedSnapshots += ended
	done := work{stay: map[string]bool{}}
	for i, key := range keys {
		result, count, _ := strings.Cut(reply[1+i], " ")
		members, _ := strconv.ParseInt(count, 10, 64) // 0 where the result has no count
		c.add(result, members)
		if result == "damaged" {
			done.stay[key] = true
			done.damaged = append(done.damaged, s.damaged(key, "it was left as it is"))
		}
	}
	return done, nil
}

func (c *Collected) add(result string, members int64) {
	c.Due++
	switch result {
	case "early":
		c.Due--
	case "damaged":
		c.DamagedRows++
	case "vanished":
		c.RemovedEntries++
	case "removed":
		c.RemovedRows++
		c.DroppedVersions += members
	case "held":
		c.HeldBack++
		c.DroppedVersions += members
	case "trimmed", "waiting":
		c.DroppedVersions += members
	}
}

func (s *Store) collectKeys() []string {
	return []string{s.keys.Index(), s.keys.Map(), s.keys.Cleanup(), s.keys.SnapshotExpiry(), s.keys.SnapshotBoundary()}
}

func (s *Store) bookkeeping(names, reply []string) error {
	place, err := strconv.Atoi(reply[1])
	if err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	return storeerr.New(storeerr.Integrity, "the store's bookkeeping is damaged: %s", reply[2]).AtKey(names[place-1])
}
