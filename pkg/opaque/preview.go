package opaque

import (
	"context"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Preview says what Write would do with a batch at this moment, and changes
// nothing. It validates as Write does and fails with the same Conflict and
// Integrity; versions are not known before a batch is applied, so they are
// empty.
func (s *Store) Preview(ctx context.Context, b Batch) (*Applied, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	now, current, err := s.readBatch(ctx, b)
	if err != nil {
		return nil, err
	}
	for _, c := range b.Conditions {
		if err := current[c.Key].Err; err != nil {
			return nil, err
		}
	}
	for i, c := range b.Conditions {
		if !c.holds(current[c.Key]) {
			return nil, storeerr.New(storeerr.Conflict, "nothing would change: %w", &FailedCondition{Condition: c, Number: i + 1, Now: now})
		}
	}
	applied := &Applied{Now: now, Written: make([]Written, len(b.Mutations))}
	for i, m := range b.Mutations {
		r := current[m.Key]
		if r.Err != nil {
			return nil, r.Err
		}
		applied.Written[i] = m.preview(r, now)
	}
	return applied, nil
}

// ConditionState is a condition as a later reading found it.
type ConditionState struct {
	Condition Condition
	Holds     bool
	Reading   Reading
}

// Explain reads the keys of conditions once more and says which hold now. It
// tells what became of a conflict, not what it was: the store may have moved on.
func (s *Store) Explain(ctx context.Context, conditions []Condition) (now int64, states []ConditionState, err error) {
	now, current, err := s.readBatch(ctx, Batch{Conditions: conditions})
	if err != nil {
		return 0, nil, err
	}
	for _, c := range conditions {
		r := current[c.Key]
		states = append(states, ConditionState{Condition: c, Holds: r.Err == nil && c.holds(r), Reading: r})
	}
	return now, states, nil
}

// readBatch reads every key that a batch names, at one moment.
func (s *Store) readBatch(ctx context.Context, b Batch) (now int64, current map[string]Reading, err error) {
	current = map[string]Reading{}
	var keys []string
	add := func(key string) {
		if _, known := current[key]; !known {
			current[key] = Reading{}
			keys = append(keys, key)
		}
	}
	for _, c := range b.Conditions {
		add(c.Key)
	}
	for _, m := range b.Mutations {
		add(m.Key)
	}
	now, readings, err := s.Read(ctx, keys...)
	for _, r := range readings {
		current[r.Key] = r
	}
	return now, current, err
}

func (c Condition) holds(r Reading) bool {
	switch c.Kind {
	case KindMissing:
		return !r.Found
	case KindVersion:
		return r.Found && r.Row.Version == c.Version
	}
	return r.Found && r.Row.Value == c.Value
}

func (m Mutation) preview(r Reading, now int64) Written {
	w := Written{Key: m.Key, Outcome: OutcomePut, Replaced: r.Found, ReplacedExpiry: r.Row.ExpiresAt}
	switch {
	case m.Kind == KindDelete && r.Found:
		return Written{Key: m.Key, Outcome: OutcomeDeleted}
	case m.Kind == KindDelete:
		return Written{Key: m.Key, Outcome: OutcomeAbsent}
	case m.Expiry.mode == after:
		w.ExpiresAt = now + m.Expiry.ms
	case m.Expiry.mode == at:
		w.ExpiresAt = m.Expiry.ms
	case m.Expiry.mode == keep:
		w.ExpiresAt = r.Row.ExpiresAt
	}
	return w
}
