// What the docs say to type, typed: every command in README.md, docs/ and the
// examples of help runs in a sandbox with its sample data.
//
// A block marked console shows commands behind "$ " and what they print; … in
// it stands for anything, and on a line of its own for any lines. A command
// may fail only where its output shows an error. A block marked sh holds
// commands that must succeed; one marked "sh norun" is not run. All blocks of
// a page run in one shell, top to bottom.

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// block is a fenced block of a page.
type block struct {
	kind  string // all that stands behind the fence
	line  int    // of the fence, from 1
	lines []string
}

func TestDocs(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no docs: %v", err)
	}
	for _, page := range append(pages, "README.md", "CONTRIBUTING.md") {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			var typed []typing
			for _, b := range blocks(t, page) {
				typed = append(typed, commandsOf(t, page, b)...)
			}
			if len(typed) > 0 {
				if flags, opens := shellOf(typed[0].command); opens {
					runTypings(t, "", typed[1:], flags...)
					return
				}
			}
			runTypings(t, setups()[page], typed)
		})
	}
}

// shellOf returns the flags of a command that opens a shell in a sandbox: all
// that follows on the page is typed in there.
func shellOf(command string) (flags []string, opens bool) {
	command, sandbox := strings.CutPrefix(command, "keyspacectl sandbox ")
	command, shell := strings.CutSuffix(command, "-- bash")
	return strings.Fields(command), sandbox && shell
}

// blocks returns the fenced blocks of a page.
func blocks(t *testing.T, page string) []block {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all []block
	inside, indent := false, ""
	for i, line := range strings.Split(string(text), "\n") {
		if !inside {
			indent = line[:len(line)-len(strings.TrimLeft(line, " "))]
		}
		line = strings.TrimPrefix(line, indent)
		kind, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !inside:
			all = append(all, block{kind: kind, line: i + 1})
			inside = true
		case fence:
			inside = false
		case inside:
			last := &all[len(all)-1]
			last.lines = append(last.lines, line)
		}
	}
	return all
}

// typing is a command as typed, with what is known of its output.
type typing struct {
	at      string // its page and line
	command string
	shown   []string // nil where the docs show no output
	compare bool
}

// commandsOf returns what a block says to type.
func commandsOf(t *testing.T, page string, b block) []typing {
	t.Helper()
	switch b.kind {
	case "console":
		return consoleTypings(t, page, b)
	case "sh":
		return scriptTypings(page, b)
	case "sh norun":
		checkMakeTargets(t, page, b)
	case "text", "json", "yaml", "lua", "go":
	default:
		t.Errorf("%s:%d: a block marked %q is neither run nor known as data", page, b.line, b.kind)
	}
	return nil
}

func consoleTypings(t *testing.T, page string, b block) []typing {
	t.Helper()
	var all []typing
	open := false // the command goes on
	for i, line := range b.lines {
		command, prompt := strings.CutPrefix(line, "$ ")
		switch {
		case prompt && !open:
			all = append(all, typing{at: fmt.Sprintf("%s:%d", page, b.line+1+i), command: command, compare: true})
		case open:
			all[len(all)-1].command += "\n" + strings.TrimPrefix(line, "> ")
		case len(all) == 0:
			t.Errorf("%s:%d: output before the first command", page, b.line+1+i)
			return nil
		default:
			all[len(all)-1].shown = append(all[len(all)-1].shown, line)
		}
		open = (prompt || open) && unfinished(all[len(all)-1].command)
	}
	return all
}

// unfinished tells whether a shell would ask for more of a command.
func unfinished(command string) bool {
	return strings.HasSuffix(command, `\`) || strings.Count(command, "'")%2 == 1
}

// scriptTypings returns the commands of a block or example of commands alone.
func scriptTypings(page string, b block) []typing {
	var all []typing
	open := false
	for i, line := range b.lines {
		line = strings.TrimSpace(line)
		switch {
		case open:
			all[len(all)-1].command += "\n" + line
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		default:
			all = append(all, typing{at: fmt.Sprintf("%s:%d", page, b.line+1+i), command: line})
		}
		open = unfinished(all[len(all)-1].command)
	}
	return all
}

var makeTarget = regexp.MustCompile(`(?m)^make ([a-z-]+)`)

// checkMakeTargets asserts that what a block makes is in the Makefile.
func checkMakeTargets(t *testing.T, page string, b block) {
	t.Helper()
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range makeTarget.FindAllStringSubmatch(strings.Join(b.lines, "\n"), -1) {
		if !strings.Contains(string(makefile), "\n"+match[1]+":") {
			t.Errorf("%s:%d: the Makefile makes no %s", page, b.line, match[1])
		}
	}
}

// runTypings types commands in one shell, behind a setup, and compares what they print. The
// flags are of its sandbox.
func runTypings(t *testing.T, setup string, typed []typing, flags ...string) {
	t.Helper()
	if len(typed) == 0 {
		return
	}
	commands := make([]string, len(typed))
	for i, c := range typed {
		commands[i] = c.command
	}
	for i, got := range runShell(t, setup, commands, flags...) {
		c := typed[i]
		fails := slices.ContainsFunc(c.shown, func(line string) bool { return strings.Contains(line, "error") })
		if (got.status != 0) != fails {
			t.Errorf("%s: %s\nends with status %d and prints\n%s", c.at, c.command, got.status, got.output)
		}
		if c.compare && !matches(c.shown, got.output) {
			t.Errorf("%s: %s\nprints\n%s\nand is shown with\n%s", c.at, c.command, got.output, strings.Join(c.shown, "\n"))
		}
	}
}

// matches tells whether output is what a console block shows.
func matches(shown []string, output string) bool {
	var pattern strings.Builder
	pattern.WriteString("^")
	for _, line := range shown {
		if line == "…" {
			pattern.WriteString(`(?:[^\n]*\n)*?`)
			continue
		}
		line = strings.ReplaceAll(regexp.QuoteMeta(strings.TrimRight(line, " ")), "…", ".*?")
		pattern.WriteString(line + ` *\n`)
	}
	pattern.WriteString(`\n*$`)
	return regexp.MustCompile(pattern.String()).MatchString(strings.TrimRight(output, "\n") + "\n")
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shown  string
		output string
		want   bool
	}{
		{"a\nb", "a  \nb\n", true},
		{"a", "a\nb\n", false},
		{"a\nb", "a\n", false},
		{"a … c", "a bb c\n", true},
		{"a … c", "a b\n c\n", false},
		{"a\n…", "a\nb\nc\n", true},
		{"a\n…\nd", "a\nb\nc\nd\n", true},
		{"a\n…\nd", "a\nb\nc\n", false},
		{"a.c", "abc\n", false},
	} {
		if got := matches(strings.Split(c.shown, "\n"), c.output); got != c.want {
			t.Errorf("%q shows %q: %v", c.shown, c.output, got)
		}
	}
}
