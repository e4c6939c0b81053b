// The parts of a batch: conditions, mutations, expiries, and what became of them.

package opaque

import (
	"fmt"
	"strconv"
	"time"
)

// ConditionKind says what a Condition asks of a key.
type ConditionKind string

// The kinds of condition.
const (
	KindMissing ConditionKind = "missing" // there is no live row
	KindVersion ConditionKind = "version" // the row is live and has this version
	KindValue   ConditionKind = "value"   // the row is live and has exactly these bytes
)

// Condition must hold when a batch is applied. Make one with Missing,
// VersionIs or ValueIs.
type Condition struct {
	Kind    ConditionKind
	Key     string
	Version string // for KindVersion
	Value   string // for KindValue
}

// Missing asks that key has no live row.
func Missing(key string) Condition { return Condition{Kind: KindMissing, Key: key} }

// VersionIs asks that key has a live row of this version.
func VersionIs(key, version string) Condition {
	return Condition{Kind: KindVersion, Key: key, Version: version}
}

// ValueIs asks that key has a live row of exactly these bytes.
func ValueIs(key, value string) Condition {
	return Condition{Kind: KindValue, Key: key, Value: value}
}

func (c Condition) expected() string {
	if c.Kind == KindVersion {
		return c.Version
	}
	return c.Value
}

// MutationKind says what a Mutation does.
type MutationKind string

// The kinds of mutation.
const (
	KindPut    MutationKind = "put"
	KindDelete MutationKind = "delete"
)

// Mutation changes one key. Make one with Put or Delete.
type Mutation struct {
	Kind   MutationKind
	Key    string
	Value  string // for KindPut
	Expiry Expiry // for KindPut
}

// Put writes a value.
func Put(key, value string, expiry Expiry) Mutation {
	return Mutation{Kind: KindPut, Key: key, Value: value, Expiry: expiry}
}

// Delete writes a tombstone, if the key has a live row.
func Delete(key string) Mutation { return Mutation{Kind: KindDelete, Key: key} }

// Expiry says when a put row ends. The zero Expiry is Never.
type Expiry struct {
	mode expiryMode
	ms   int64
}

type expiryMode int

const (
	never expiryMode = iota
	after
	at
	keep
)

// Never makes a row that lasts.
func Never() Expiry { return Expiry{} }

// After makes a row that ends a retention after the server's time; parts of a
// millisecond are dropped, and at least one must be left.
func After(retention time.Duration) Expiry { return Expiry{after, retention.Milliseconds()} }

// At makes a row that ends at a moment, in ms since the epoch.
func At(ms int64) Expiry { return Expiry{at, ms} }

// Keep gives the row the expiry of the live row that it replaces, and none
// where there is none.
func Keep() Expiry { return Expiry{mode: keep} }

func (e Expiry) arg() string {
	switch e.mode {
	case after:
		return "in " + strconv.FormatInt(e.ms, 10)
	case at:
		return "at " + strconv.FormatInt(e.ms, 10)
	case keep:
		return "keep"
	}
	return "never"
}

// Batch is applied whole or not at all.
type Batch struct {
	Conditions []Condition
	Mutations  []Mutation
}

// Outcome says what became of a mutation in an applied batch.
type Outcome string

// The outcomes.
const (
	OutcomePut     Outcome = "put"     // the row was written
	OutcomeDeleted Outcome = "deleted" // a live row became a tombstone
	OutcomeAbsent  Outcome = "absent"  // a delete found no live row and left nothing
)

// Written is what became of one mutation.
type Written struct {
	Key            string
	Outcome        Outcome
	Version        string // of a put
	ExpiresAt      int64  // of a put: ms since the epoch, 0 = never
	Replaced       bool   // a put replaced a live row
	ReplacedExpiry int64  // its expiry
}

// Applied is the answer to a batch that was applied.
type Applied struct {
	Now     int64  // the server's time
	Version string // of every put in the batch
	Written []Written
}

// FailedCondition is the cause of a conflict.
type FailedCondition struct {
	Condition Condition
	Number    int   // its place among the conditions, from 1
	Now       int64 // the server's time when it was false
}

// Error says which condition failed.
func (f *FailedCondition) Error() string {
	switch f.Condition.Kind {
	case KindMissing:
		return fmt.Sprintf("key %q has a live row", f.Condition.Key)
	case KindVersion:
		return fmt.Sprintf("key %q has no live row of version %q", f.Condition.Key, f.Condition.Version)
	}
	return fmt.Sprintf("key %q has no live row of the value given", f.Condition.Key)
}
