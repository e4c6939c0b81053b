// Package verify holds the data of the three stores against their contract
// (docs/storage.md), names each violation by a stable code, and mends what can
// be mended without guessing.
//
// [Opaque], [Warm] and [Blobs] stream what they find, beside live traffic and
// in bounded memory; [Run] goes through several stores and mends what it is
// asked to. What may have been a race is read again in one atomic step before
// it is a [Finding]. [Catalogue] lists every code.
package verify

import (
	"context"
	"slices"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// Store names a store.
type Store string

// The stores.
const (
	StoreOpaque Store = "opaque"
	StoreBlob   Store = "blob"
	StoreWarm   Store = "warm"
)

// Stores returns every store, in the order in which they are verified.
func Stores() []Store { return []Store{StoreOpaque, StoreBlob, StoreWarm} }

// ParseStore returns the store of that name; any other is storeerr.Invalid.
func ParseStore(name string) (Store, error) {
	if store := Store(name); slices.Contains(Stores(), store) {
		return store, nil
	}
	return "", storeerr.New(storeerr.Invalid, "unknown store %q: one of opaque, blob, warm", name)
}

// check refuses a prefix that the store cannot have.
func (s Store) check(prefix string) (err error) {
	switch s {
	case StoreOpaque:
		_, err = opaque.NewKeys(prefix)
	case StoreBlob:
		_, err = blob.New(nil, prefix)
	case StoreWarm:
		_, err = warm.New(nil, prefix)
	default:
		_, err = ParseStore(string(s))
	}
	return err
}

// Severity says how bad a finding is.
type Severity string

// The severities, worst first.
const (
	Critical Severity = "critical" // applications fail, or lose data without a word, until it is mended
	Error    Severity = "error"    // data or bookkeeping breaks the contract
	Warning  Severity = "warning"  // the contract holds, and somebody should know
)

// Severities returns every severity, worst first.
func Severities() []Severity { return []Severity{Critical, Error, Warning} }

// ParseSeverity returns the severity of that name; any other is
// storeerr.Invalid.
func ParseSeverity(name string) (Severity, error) {
	if severity := Severity(name); slices.Contains(Severities(), severity) {
		return severity, nil
	}
	return "", storeerr.New(storeerr.Invalid, "unknown severity %q: one of critical, error, warning", name)
}

// AtLeast tells whether s is as bad as other, or worse.
func (s Severity) AtLeast(other Severity) bool { return s.rank() <= other.rank() }

func (s Severity) rank() int { return slices.Index(Severities(), s) }

// Options are what the checks of all stores take.
type Options struct {
	// NoPayload leaves out what reads payloads: deltas, frames and manifests.
	NoPayload bool
	// Progress is called now and then with the number of things looked at so
	// far, or is nil.
	Progress func(checked int64)

	hold bool // the reader mends: hand findings on between walks
}

func (o Options) progress(checked int64) {
	if o.Progress != nil {
		o.Progress(checked)
	}
}

// Finding is one violation. Texts are one line each, in lower case.
type Finding struct {
	Code     Code
	Severity Severity
	Store    Store
	Prefix   string
	RedisKey string // the raw key concerned

	Key        string        // versioned store: the logical key; empty where none is known
	SnapshotID string        // versioned store: the snapshot concerned, or empty
	Reference  string        // blob store: the reference; empty where none is known
	Segment    *warm.Segment // warm store: the segment, or nil
	Chunk      *uint16       // warm store: the chunk, or nil
	Member     string        // warm store: the member of an index that is no number of a chunk

	Expected string // what the contract wants
	Found    string // what is there
	Repair   string // what mending does; empty where it would be a guess

	mend mend
}

// mend repairs what a finding is about: one script that looks again first.
type mend func(ctx context.Context) (Outcome, error)

// Destroys tells whether mending the finding takes data away from the
// applications, so that it is done only where its code is named.
func (f Finding) Destroys() bool { return f.Code.entry().Mending == Named }

// Mendable tells whether [Finding.Mend] can do anything.
func (f Finding) Mendable() bool { return f.mend != nil }

// Mend repairs the finding, in one script that looks again before it changes
// anything. The error is one of storeerr's kinds; what keeps a sound script
// from mending is an [Outcome] instead.
func (f Finding) Mend(ctx context.Context) (Outcome, error) {
	if f.mend == nil {
		return Outcome{}, storeerr.New(storeerr.Invalid, "a finding of %s is not mended without guessing", f.Code)
	}
	return f.mend(ctx)
}

// Action says what became of a finding.
type Action string

// The actions.
const (
	Reported     Action = "reported"      // nothing was to be done
	WouldRepair  Action = "would_repair"  // a dry run
	Repaired     Action = "repaired"      // it is mended
	AlreadySound Action = "already_sound" // somebody else, or another mend, was faster
	Refused      Action = "refused"       // the mend looked again and did nothing
	NotNamed     Action = "not_named"     // mending destroys data, and the code was not named
	NotMendable  Action = "not_mendable"  // mending would be a guess
	Failed       Action = "failed"        // the server did not let the mend through
)

// Outcome is what a mend did.
type Outcome struct {
	Action Action
	Detail string // why it was refused, or what exactly was done; may be empty
}
