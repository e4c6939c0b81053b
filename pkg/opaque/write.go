package opaque

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Write applies a batch, or changes nothing. The errors are storeerr.Invalid
// (limits, before anything is sent), Conflict with a *FailedCondition,
// Integrity, Backlog (after one collection pass and one more try), and those
// of the connection; after UnknownOutcome the batch may have been applied. A
// lost answer is followed by one more try where the batch's own conditions
// keep it from being applied twice.
func (s *Store) Write(ctx context.Context, b Batch) (*Applied, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	call := s.call(b)
	reply, err := s.run(ctx, call)
	if storeerr.AnswerLost(err) && b.fenced() && ctx.Err() == nil {
		reply, err = s.runAgain(ctx, call, err)
	}
	if err != nil {
		return nil, err
	}
	if reply[0] == "backlog" {
		// A pass that fails leaves the backlog as the answer.
		if _, err := s.Collect(ctx, PassSize); err == nil {
			if reply, err = s.run(ctx, call); err != nil {
				return nil, err
			}
		}
	}
	return s.applied(b, call.Keys, reply)
}

// runAgain sends a fenced batch once more after its answer was lost. Applied
// now means that it was not before. Anything else proves nothing: a condition
// may be false because of the batch's own first success.
func (s *Store) runAgain(ctx context.Context, call luascripts.Call, lost error) ([]string, error) {
	reply, err := s.run(ctx, call)
	if err != nil || reply[0] != "applied" {
		return nil, lost
	}
	return reply, nil
}

// fenced tells whether the batch cannot be applied twice: one of its
// conditions is false once it has been applied.
func (b Batch) fenced() bool {
	conditions := map[string]Condition{}
	for _, c := range b.Conditions {
		conditions[c.Key] = c
	}
	return slices.ContainsFunc(b.Mutations, func(m Mutation) bool {
		c, ok := conditions[m.Key]
		switch {
		case !ok:
			return false
		case c.Kind == KindMissing:
			return m.Kind == KindPut && m.Expiry.mode == never
		case c.Kind == KindValue:
			return m.Kind == KindDelete || m.Value != c.Value
		}
		return true
	})
}

// call lays a batch out for the script opaque_write.
func (s *Store) call(b Batch) luascripts.Call {
	keys := make([]string, 0, batchKeys+len(b.Mutations)+len(b.Conditions))
	keys = append(keys,
		s.keys.Sequence(), s.keys.Index(), s.keys.Map(), s.keys.Cleanup(),
		s.keys.SnapshotExpiry(), s.keys.SnapshotBoundary())
	missing := b.missing()
	args := make([]any, 0, 3+4*len(b.Conditions)+3*len(b.Mutations))
	args = append(args, len(b.Conditions), len(b.Mutations), missing)
	places := make(map[string]int, len(b.Mutations)+len(b.Conditions))
	row := func(key string) {
		keys = append(keys, s.keys.Row(key))
		places[key] = len(keys)
	}
	for _, m := range b.Mutations {
		row(m.Key)
		value, ends := m.Value, m.Expiry.arg()
		if m.Kind == KindDelete {
			value, ends = "", "delete"
		}
		head := appendHead(make([]byte, 0, len(m.Key)+len(value)+12), m.Key, value)
		args = append(args, m.Key, head, ends)
	}
	for _, c := range b.Conditions {
		if _, known := places[c.Key]; !known {
			row(c.Key)
			args = append(args, c.Key)
		}
	}
	for _, c := range b.Conditions[missing:] {
		args = append(args, places[c.Key], string(c.Kind), c.expected())
	}
	return luascripts.Call{Script: luascripts.Must("opaque_write"), Keys: keys, Args: args}
}

// missing is how many conditions ask, each of the mutation of the same number,
// that its row is missing: all of a batch that only creates.
func (b Batch) missing() int {
	for i, c := range b.Conditions {
		if c.Kind != KindMissing || i == len(b.Mutations) || b.Mutations[i].Key != c.Key {
			return i
		}
	}
	return len(b.Conditions)
}

// batchKeys is how many keys stand before those of the rows.
const batchKeys = 6

func (s *Store) run(ctx context.Context, call luascripts.Call) ([]string, error) {
	reply, err := call.Script.Run(ctx, s.rdb, call.Keys, call.Args...).StringSlice()
	if err != nil {
		return nil, storeerr.FromRedis(err, storeerr.Writes, "writing")
	}
	return reply, nil
}

// applied reads the reply of the script opaque_write.
func (s *Store) applied(b Batch, keys, reply []string) (*Applied, error) {
	now, err := parseMilliseconds(reply[1])
	if err != nil {
		return nil, err
	}
	switch reply[0] {
	case "applied":
		result := &Applied{Now: now, Version: reply[2], Written: make([]Written, len(b.Mutations))}
		for i, m := range b.Mutations {
			if result.Written[i], err = written(m.Key, reply[2], reply[3+i]); err != nil {
				return nil, err
			}
		}
		return result, nil
	case "conflict":
		number, err := strconv.Atoi(reply[2])
		if err != nil {
			return nil, fmt.Errorf("reading the answer: %w", err)
		}
		cause := &FailedCondition{Condition: b.Conditions[number-1], Number: number, Now: now}
		return nil, storeerr.New(storeerr.Conflict, "nothing has changed: %w", cause)
	}
	place, err := strconv.Atoi(reply[2])
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	key, isRow := b.keyOf(s, keys[place-1])
	switch reply[0] {
	case "backlog":
		return nil, storeerr.New(storeerr.Backlog,
			"nothing has changed: open snapshots hold %d versions back: %w", MaxRowVersions, &RefusedRow{Key: key}).
			AtKey(keys[place-1]).
			WithHint("see `keyspacectl snapshot list`; end a snapshot, or wait until it ends")
	case "expiry":
		return nil, storeerr.New(storeerr.Invalid, "the retention for key %q lies past the year 9999", key)
	}
	if isRow {
		return nil, fmt.Errorf("nothing has changed: %w", s.damaged(key, reply[3]))
	}
	return nil, storeerr.New(storeerr.Integrity, "nothing has changed: the store's bookkeeping is damaged: %s", reply[3]).AtKey(keys[place-1])
}

// RefusedRow is the cause of a backlog: the key that refused the batch.
type RefusedRow struct{ Key string }

// Error names the key.
func (r *RefusedRow) Error() string { return fmt.Sprintf("key %q takes no more versions", r.Key) }

// keyOf finds the logical key of a row key among those of the batch.
func (b Batch) keyOf(s *Store, rowKey string) (string, bool) {
	for _, c := range b.Conditions {
		if s.keys.Row(c.Key) == rowKey {
			return c.Key, true
		}
	}
	for _, m := range b.Mutations {
		if s.keys.Row(m.Key) == rowKey {
			return m.Key, true
		}
	}
	return "", false
}

// written reads one result of the script: "put <expires> <replaced>",
// "deleted" or "absent".
func written(key, version, result string) (Written, error) {
	words := strings.Fields(result)
	w := Written{Key: key, Outcome: Outcome(words[0])}
	if w.Outcome != OutcomePut {
		return w, nil
	}
	w.Version = version
	var err error
	if w.ExpiresAt, err = parseMilliseconds(words[1]); err != nil {
		return w, err
	}
	if words[2] != "none" {
		w.Replaced = true
		if w.ReplacedExpiry, err = parseMilliseconds(words[2]); err != nil {
			return w, err
		}
	}
	return w, nil
}

func parseMilliseconds(text string) (int64, error) {
	ms, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reading the answer: %w", err)
	}
	return saturate(ms), nil
}
