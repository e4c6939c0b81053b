package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func TestFailureOf(t *testing.T) {
	t.Parallel()
	ctrlC, term := interrupted{os.Interrupt}, interrupted{syscall.SIGTERM}
	canceled := fmt.Errorf("reading: %w", context.Canceled)
	partial := storeerr.New(storeerr.Partial, "deleted 3 keys: %w", canceled)
	for _, test := range []struct {
		name       string
		err, cause error
		want       render.Failure
	}{
		{"none", nil, nil, render.Failure{Code: 0, Kind: "done"}},
		{"none, and a signal", nil, ctrlC, render.Failure{Code: 0, Kind: "done"}},
		{"any other", errors.New("full"), nil, render.Failure{Code: 1, Kind: "failed", Message: "full"}},
		{"hint", storeerr.New(storeerr.Invalid, "bad").WithHint("do"), nil, render.Failure{Code: 2, Kind: "invalid", Message: "bad", Hint: "do"}},
		{"wrapped", fmt.Errorf("on: %w", storeerr.New(storeerr.Conflict, "no")), nil, render.Failure{Code: 4, Kind: "conflict", Message: "on: no"}},
		{"partial", partial, nil, render.Failure{Code: 10, Kind: "partial", Message: "deleted 3 keys: reading: context canceled"}},
		{"Ctrl-C", canceled, ctrlC, render.Failure{Code: 130, Kind: "interrupted", Message: "interrupted"}},
		{"SIGTERM", canceled, term, render.Failure{Code: 143, Kind: "terminated", Message: "terminated"}},
		{"Ctrl-C, the connection closed", storeerr.New(storeerr.Unavailable, "closed"), ctrlC, render.Failure{Code: 130, Kind: "interrupted", Message: "interrupted"}},
		{"Ctrl-C, midway", partial, ctrlC, render.Failure{Code: 130, Kind: "interrupted", Message: "deleted 3 keys: reading: context canceled"}},
		{"Ctrl-C, the answer lost", storeerr.New(storeerr.UnknownOutcome, "lost").WithHint("read"), ctrlC, render.Failure{Code: 130, Kind: "interrupted", Message: "lost", Hint: "read"}},
		{"Ctrl-C, after an answer", storeerr.New(storeerr.NotFound, "none"), ctrlC, render.Failure{Code: 3, Kind: "not_found", Message: "none"}},
		{"another process", statusError{9}, ctrlC, render.Failure{Code: 9, Kind: "failed", Message: "the command failed"}},
	} {
		if got := failureOf(test.err, test.cause); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// TestExitCodesAreComplete holds every kind of error against the table that
// help prints.
func TestExitCodesAreComplete(t *testing.T) {
	t.Parallel()
	known := map[int]bool{}
	for _, row := range exitCodes() {
		if known[row.Code] {
			t.Errorf("status %d is listed twice", row.Code)
		}
		known[row.Code] = true
	}
	for kind, code := range kindCodes() {
		if !known[code] || code == exitDone {
			t.Errorf("%s has status %d", kind, code)
		}
	}
}
