// The exit statuses: what each means, and which one an error gets. Nothing
// else in the program knows of them.

package cmd

import (
	"context"
	"errors"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitExpired     = 5
	exitRefused     = 6
	exitIntegrity   = 7
	exitUnavailable = 8
	exitUnknown     = 9
	exitPartial     = 10
	exitInterrupt   = 130
	exitTerminated  = 143
)

// exitCode is a row of the table that `help exit-codes` and the docs print.
type exitCode struct {
	Code    int
	Name    string
	Meaning string
}

func exitCodes() []exitCode {
	return []exitCode{
		{exitDone, "done", "done"},
		{exitFailed, "failed", "any other failure"},
		{exitUsage, "usage", "flags, arguments, config or limits; nothing was sent"},
		{exitNotFound, "not_found", "not found"},
		{exitConflict, "conflict", "a condition was false, a token or blob differs; nothing changed"},
		{exitExpired, "expired", "the cursor or snapshot is gone"},
		{exitRefused, "refused", "backlog, snapshot capacity, out of memory, read-only or permission; nothing changed"},
		{exitIntegrity, "integrity", "corrupt or foreign data; a check of doctor failed, verify left findings, or diff found differences"},
		{exitUnavailable, "unavailable", "cannot connect, loading, cluster down, busy, or timed out before anything was sent; worth a retry"},
		{exitUnknown, "unknown", "a write was sent and its answer lost, or the server stopped its script midway; the message says how to find out"},
		{exitPartial, "partial", "a bulk command stopped midway; what was done is counted and where to resume is printed"},
		{exitInterrupt, "interrupted", "interrupted by Ctrl-C, with what was done so far; snapshots closed, temporary files gone"},
		{exitTerminated, "terminated", "the same by SIGTERM or SIGHUP"},
	}
}

// kindCodes says which status each kind of store error gets.
func kindCodes() map[storeerr.Kind]int {
	return map[storeerr.Kind]int{
		storeerr.NotFound:       exitNotFound,
		storeerr.Conflict:       exitConflict,
		storeerr.Expired:        exitExpired,
		storeerr.Backlog:        exitRefused,
		storeerr.Capacity:       exitRefused,
		storeerr.Integrity:      exitIntegrity,
		storeerr.Invalid:        exitUsage,
		storeerr.Unavailable:    exitUnavailable,
		storeerr.UnknownOutcome: exitUnknown,
		storeerr.Denied:         exitRefused,
		storeerr.ReadOnly:       exitRefused,
		storeerr.OutOfMemory:    exitRefused,
		storeerr.Partial:        exitPartial,
		storeerr.Failed:         exitFailed,
	}
}

// statusError ends the command with the status of another process.
type statusError struct{ code int }

func (e statusError) Error() string { return "the command failed" }

// silent wraps an error of which everything has been said already.
type silent struct{ error }

func (e silent) Unwrap() error { return e.error }

// failureOf returns an error as it is told: its exit status, its kind, what to
// say. cause is why the command's context ended, if it has.
func failureOf(err, cause error) render.Failure {
	if err == nil {
		return render.Failure{Code: exitDone, Kind: "done"}
	}
	kind := storeerr.KindOf(err)
	failure := render.Failure{Code: kindCodes()[kind], Kind: string(kind), Message: err.Error(), Hint: storeerr.HintOf(err)}
	if status, ok := errors.AsType[statusError](err); ok {
		failure.Code = status.code
		return failure
	}
	signal, ok := errors.AsType[interrupted](cause)
	if !ok {
		return failure
	}
	// What the store answered before stays an answer.
	switch canceled := errors.Is(err, context.Canceled); {
	case kind == storeerr.Partial, kind == storeerr.UnknownOutcome:
		failure.Code, failure.Kind = signal.code(), signal.Error()
	case canceled, kind == storeerr.Unavailable:
		failure = render.Failure{Code: signal.code(), Kind: signal.Error(), Message: signal.Error()}
	}
	return failure
}
