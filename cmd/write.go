// Writing a batch to the versioned store, as put, delete and txn do it.

package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// write applies a batch, or with dryRun says what it would do. After a
// conflict it tells which conditions do not hold now. Behind an applied batch
// it does a bounded pass of collection, whose failure is nobody's business.
func (f *Factory) write(ctx context.Context, store *opaque.Store, b opaque.Batch, dryRun bool) (*opaque.Applied, error) {
	ctx, cancel := f.operation(ctx)
	defer cancel()
	do := store.Write
	if dryRun {
		do = store.Preview
	}
	applied, err := do(ctx, b)
	if errors.Is(err, storeerr.Conflict) {
		return nil, explain(ctx, store, b.Conditions, err)
	}
	if err != nil {
		return nil, err
	}
	f.noteWritten(applied)
	if !dryRun {
		_, _ = store.Collect(ctx, opaque.PassSize)
	}
	return applied, nil
}

// noteWritten tells what may not have been meant about what was written.
func (f *Factory) noteWritten(applied *opaque.Applied) {
	for _, w := range applied.Written {
		if w.Outcome != opaque.OutcomePut {
			continue
		}
		if !utf8.ValidString(w.Key) {
			f.note("the key %q is no valid UTF-8: other drivers cannot address it", w.Key)
		}
		if lastsNow(w) {
			f.note("the row of key %q that was replaced had an expiry, the new one lasts", w.Key)
		}
		if w.ExpiresAt > 0 && w.ExpiresAt <= applied.Now {
			f.note("the row of key %q is expired already", w.Key)
		}
	}
}

// lastsNow tells of a row that has replaced one with an expiry that it has none.
func lastsNow(w opaque.Written) bool {
	return w.Replaced && w.ReplacedExpiry > 0 && w.ExpiresAt == 0
}

// manyWritten counts what [Factory.noteWritten] tells of, for many rows.
type manyWritten struct{ notUTF8, lasting, expired int }

func (m *manyWritten) add(applied *opaque.Applied) {
	for _, w := range applied.Written {
		if !utf8.ValidString(w.Key) {
			m.notUTF8++
		}
		if lastsNow(w) {
			m.lasting++
		}
		if w.ExpiresAt > 0 && w.ExpiresAt <= applied.Now {
			m.expired++
		}
	}
}

func (m *manyWritten) tell(f *Factory) {
	if m.notUTF8 > 0 {
		f.note("%s of no valid UTF-8: other drivers cannot address them", count(m.notUTF8, "key"))
	}
	if m.lasting > 0 {
		f.note("%s that replaced one with an expiry: the new one lasts", count(m.lasting, "row"))
	}
	if m.expired > 0 {
		f.note("%s of which the expiry is over already", count(m.expired, "row"))
	}
}

// explain adds to a conflict what its conditions look like now.
func explain(ctx context.Context, store *opaque.Store, conditions []opaque.Condition, conflict error) error {
	_, states, err := store.Explain(ctx, conditions)
	if err != nil {
		return conflict
	}
	var broken []string
	for _, s := range states {
		if !s.Holds {
			broken = append(broken, describe(s))
		}
	}
	hint := "as read just now, every condition holds again"
	if len(broken) > 0 {
		hint = "as read just now: " + strings.Join(broken, "; ")
	}
	return storeerr.New(storeerr.Conflict, "%w", conflict).WithHint("%s", hint)
}

func describe(s opaque.ConditionState) string {
	c, r := s.Condition, s.Reading
	switch {
	case r.Err != nil:
		return fmt.Sprintf("key %q is damaged", c.Key)
	case !r.Found:
		return fmt.Sprintf("key %q has no live row", c.Key)
	case c.Kind == opaque.KindValue:
		return fmt.Sprintf("key %q has another value, of version %q", c.Key, r.Row.Version)
	}
	return fmt.Sprintf("key %q has version %q", c.Key, r.Row.Version)
}
