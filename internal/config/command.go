// Passwords that a command prints: a password manager's, for example.

package config

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	"github.com/mattn/go-shellwords"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// commandPatience is how long the command may take. Somebody may have to
// unlock a vault first.
const commandPatience = time.Minute

// splitCommand splits a command into words as a shell does, with quotes and
// backslashes. Nothing is expanded, and what only a shell could do is refused.
func splitCommand(line string) ([]string, error) {
	parser := shellwords.NewParser()
	words, err := parser.Parse(line)
	switch {
	case err != nil, parser.Position >= 0: // where a shell would begin another command
		return nil, errors.New("is no command: a quote is not closed, or it needs a shell; write sh -c '…' for one")
	case len(words) == 0:
		return nil, errors.New("names no command")
	}
	return words, nil
}

// runCommand returns the first line that the command prints. Its errors repeat
// nothing that it printed.
func (s *Settings) runCommand(ctx context.Context) (string, error) {
	fail := func(err error) error { return invalid(s.Source("password-command"), err) }
	words, err := splitCommand(s.passwordCommand)
	if err != nil {
		return "", fail(err)
	}
	ctx, cancel := context.WithTimeout(ctx, commandPatience)
	defer cancel()
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.WaitDelay = time.Second // for children that keep its output open
	output, err := command.Output()
	switch {
	case ctx.Err() != nil:
		return "", fail(errors.New("the command did not end in time"))
	case err != nil:
		return "", storeerr.New(storeerr.Invalid, "%s: the command failed: %w", s.Source("password-command"), err).
			WithHint("run it by hand to see why")
	}
	line, _, _ := strings.Cut(string(output), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", fail(errors.New("the first line that the command prints is empty"))
	}
	return line, nil
}
