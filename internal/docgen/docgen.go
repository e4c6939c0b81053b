// Package docgen writes those pages of docs/ that come from the program: the
// command reference, the exit statuses and what verify can find. Pages depend on nothing
// but the program, so that a test can tell whether they are up to date.
package docgen

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/keyspacectl/keyspacectl/pkg/verify"
)

// ExitCode is one exit status of the program.
type ExitCode struct {
	Code    int    `json:"code"`
	Name    string `json:"name"`
	Meaning string `json:"meaning"`
}

// Pages returns all generated pages by their path in docs/.
func Pages(root *cobra.Command, codes []ExitCode) map[string]string {
	root.InitDefaultHelpCmd()
	pages := map[string]string{
		"exit-codes.md":       exitCodes(codes),
		"verify-codes.md":     verifyCodes(),
		"reference/README.md": index(root),
	}
	for _, c := range commands(root) {
		pages["reference/"+fileName(c)] = page(c)
	}
	return pages
}

// commands returns every command below c that help shows, in the order of help.
func commands(c *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() || child.Name() == "help" {
			all = append(all, child)
			all = append(all, commands(child)...)
		}
	}
	return all
}

// fileName is the page of a command: snapshot_gc.md.
func fileName(c *cobra.Command) string {
	_, path, _ := strings.Cut(c.CommandPath(), " ")
	return strings.ReplaceAll(path, " ", "_") + ".md"
}

// index is the first page: every command, and the flags that all of them take.
func index(root *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Commands\n\n%s\n\n| command | does |\n|---|---|\n", generated)
	for _, c := range commands(root) {
		if !c.HasAvailableSubCommands() || c.Name() == "help" {
			fmt.Fprintf(&b, "| [`%s`](%s) | %s |\n", strings.TrimPrefix(c.CommandPath(), root.Name()+" "), fileName(c), cell(c.Short))
		}
	}
	fmt.Fprintf(&b, "\n## Flags of every command\n\n%s\nEach is also a variable `KEYSPACECTL_<NAME>` and a key in a context of the config file: see [settings](../config.md).\n",
		flags(root.PersistentFlags()))
	return b.String()
}

// page is the page of one command.
func page(c *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n%s\n\n```text\n%s\n```\n", c.CommandPath(), generated, about(c), c.UseLine())
	if len(c.Aliases) > 0 {
		fmt.Fprintf(&b, "\nAlso called `%s`.\n", strings.Join(c.Aliases, "`, `"))
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\n| command | does |\n|---|---|\n")
		for _, child := range c.Commands() {
			if child.IsAvailableCommand() {
				fmt.Fprintf(&b, "| [`%s`](%s) | %s |\n", child.Name(), fileName(child), cell(child.Short))
			}
		}
	}
	if c.Example != "" {
		fmt.Fprintf(&b, "\n## Examples\n\n```sh\n%s\n```\n", unindented(c.Example))
	}
	if c.HasAvailableLocalFlags() {
		fmt.Fprintf(&b, "\n## Flags\n\n%s", flags(c.NonInheritedFlags()))
	}
	b.WriteString("\nBeside these there are the [flags of every command](README.md#flags-of-every-command).\n")
	return b.String()
}

const generated = "<!-- Generated from the program by `make fix`. -->"

// about is what the command says of itself.
func about(c *cobra.Command) string {
	if c.Long != "" {
		return prose(c.Long)
	}
	return prose(c.Short) + "."
}

// flags is a table of flags.
func flags(set *pflag.FlagSet) string {
	var b strings.Builder
	b.WriteString("| flag | does |\n|---|---|\n")
	set.VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden || flag.Name == "help" {
			return
		}
		value, usage := pflag.UnquoteUsage(flag)
		name := "--" + flag.Name
		if flag.Shorthand != "" {
			name = "-" + flag.Shorthand + ", " + name
		}
		if value != "" && flag.NoOptDefVal == "" {
			name += " " + value
		}
		if initial := flag.DefValue; initial != "" && initial != "false" && initial != "[]" && initial != "0" {
			usage += " (default " + initial + ")"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, cell(usage))
	})
	return b.String()
}

// exitCodes is the page of the exit statuses.
func exitCodes(codes []ExitCode) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Exit statuses\n\n%s\n\n"+
		"`keyspacectl help exit-codes` prints the same table. With `-o json` an error is an object whose `code`\n"+
		"is the status, and whose `kind` says more closely what went wrong.\n\n"+
		"| status | name | means |\n|---|---|---|\n", generated)
	for _, c := range codes {
		fmt.Fprintf(&b, "| %d | `%s` | %s |\n", c.Code, c.Name, cell(c.Meaning))
	}
	return b.String()
}

// verifyCodes is the page of what verify can find.
func verifyCodes() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# What `verify` can find\n\n%s\n\n"+
		"`keyspacectl verify --list-codes` prints the same table. The codes stay the same from version to version.\n"+
		"Findings of the kind *safe* are mended by `--repair`; those of the kind *named* lose applications some\n"+
		"data, and are mended only where `--destroy` names the code.\n", generated)
	var store verify.Store
	for _, e := range verify.Catalogue() {
		if e.Store != store {
			store = e.Store
			fmt.Fprintf(&b, "\n## %s\n\n| code | severity | means | mended | by `--repair` |\n|---|---|---|---|---|\n", store)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", e.Code, e.Severity, cell(e.Meaning), e.Mending, cell(e.Repair))
	}
	return b.String()
}

// cell is text that may stand in a cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(prose(text), "|", `\|`), "\n", " ")
}

// prose is text of help that Markdown does not take for HTML.
func prose(text string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "<", "&lt;")
}

// unindented is an example without the indent that help shows it with.
func unindented(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return strings.Join(lines, "\n")
}
