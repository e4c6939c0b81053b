// Package storeerr is the vocabulary of failures that the versioned, blob and
// warm stores share.
//
// Every error that a store returns is, somewhere in its chain, an [*Error]
// with a [Kind]. Test for a kind with errors.Is, and reach the Redis key and
// the hint with errors.As:
//
//	if errors.Is(err, storeerr.Conflict) { … }
//
// An answer "no" of a store (a conflict, a missing blob) and a failure of the
// connection never share a kind.
package storeerr

import (
	"errors"
	"fmt"
	"strings"
)

// Kind names what went wrong. It is itself an error, so that
// errors.Is(err, storeerr.Conflict) reads as it should.
type Kind string

// The kinds. What each means for a process's exit status is the business of
// the command line.
const (
	// NotFound: what was asked for does not exist, or is no longer live.
	NotFound Kind = "not_found"
	// Conflict: a condition was false; nothing has changed.
	Conflict Kind = "conflict"
	// Expired: the cursor or snapshot is gone.
	Expired Kind = "expired"
	// Backlog: a row holds as many versions as open snapshots allow; nothing has changed.
	Backlog Kind = "backlog"
	// Capacity: as many snapshots are open as may be; nothing has changed.
	Capacity Kind = "capacity"
	// Integrity: data in Redis is corrupt or foreign; nothing has changed.
	Integrity Kind = "integrity"
	// Invalid: an argument is out of its limits; nothing was sent.
	Invalid Kind = "invalid"
	// Unavailable: the server could not be reached or cannot answer now; nothing has changed.
	Unavailable Kind = "unavailable"
	// UnknownOutcome: a write was sent and its answer lost; it may or may not have been applied.
	UnknownOutcome Kind = "unknown_outcome"
	// Denied: the server refused the credentials or the permission; nothing has changed.
	Denied Kind = "denied"
	// ReadOnly: the server accepts no writes now (a replica, or it cannot persist); nothing has changed.
	ReadOnly Kind = "read_only"
	// OutOfMemory: the server is at its memory limit; nothing has changed.
	OutOfMemory Kind = "out_of_memory"
	// Partial: a bulk operation stopped midway; the message counts what was done.
	Partial Kind = "partial"
	// Failed: anything else.
	Failed Kind = "failed"
)

// Error returns the kind in words.
func (k Kind) Error() string { return strings.ReplaceAll(string(k), "_", " ") }

// Error is a failure of a store.
type Error struct {
	Kind     Kind   // what went wrong
	Message  string // one line, lower case
	RedisKey string // the raw key concerned, or empty
	Hint     string // what the reader may do about it, or empty
	Err      error  // the cause, or nil
}

// New returns an Error of a kind with a formatted message. A %w verb sets the cause.
func New(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: err.Error(), Err: errors.Unwrap(err)}
}

// AtKey returns e with the raw Redis key it concerns.
func (e *Error) AtKey(key string) *Error { e.RedisKey = key; return e }

// WithHint returns e with a hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Error returns the message, and the raw key where there is one.
func (e *Error) Error() string {
	if e.RedisKey == "" {
		return e.Message
	}
	return fmt.Sprintf("%s (redis key %q)", e.Message, e.RedisKey)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the kind of e.
func (e *Error) Is(target error) bool {
	kind, ok := target.(Kind)
	return ok && kind == e.Kind
}

// KindOf returns the kind of the first Error in err's chain, and Failed when
// there is none. It returns the empty Kind for nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Failed
}

// HintOf returns the first hint in err's chain, or the empty string.
func HintOf(err error) string {
	for err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return ""
		}
		if e.Hint != "" {
			return e.Hint
		}
		err = e.Err
	}
	return ""
}
