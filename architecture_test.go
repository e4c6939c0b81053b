// The rules of docs/layout.md that a compiler does not hold: who may import
// whom, what only some may do, and that every command explains itself.

package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/keyspacectl/keyspacectl/cmd"
)

const module = "github.com/keyspacectl/keyspacectl"

// importRules say of a tree of packages what it must not import: trees of
// packages, those of this module by their directory.
var importRules = []struct{ in, not string }{
	{"pkg", "internal"},
	{"pkg", "cmd"},
	{"internal", "cmd"},
	{"pkg/opaque", "pkg/blob"},
	{"pkg/opaque", "pkg/warm"},
	{"pkg/blob", "pkg/opaque"},
	{"pkg/blob", "pkg/warm"},
	{"pkg/warm", "pkg/opaque"},
	{"pkg/warm", "pkg/blob"},
	{"pkg/storeerr", "pkg"},

	// A library neither prints nor asks nor reads flags.
	{"pkg", "os"},
	{"pkg", "log"},
	{"pkg", "flag"},
	{"pkg", "github.com/spf13"},
	{"pkg", "github.com/olekukonko/tablewriter"},
}

// importedOnlyBy say where alone a package may be imported.
var importedOnlyBy = map[string][]string{
	"github.com/spf13/viper":            {"internal/config"},
	"github.com/spf13/cobra":            {"cmd", "internal/docgen"},
	"github.com/olekukonko/tablewriter": {"internal/render"},
	"github.com/alicebob/miniredis":     {"internal/embedded"},
	module + "/internal/testserver":     {},
	module + "/internal/faultproxy":     {},
	module + "/internal/docgen":         {},
	module + "/cmd":                     {"."},
}

func TestImports(t *testing.T) {
	t.Parallel()
	for _, file := range sources(t) {
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			local := strings.TrimPrefix(path, module+"/")
			for _, rule := range importRules {
				if within(file.dir, rule.in) && within(local, rule.not) {
					t.Errorf("%s imports %s: %s must not import %s", file.name, path, rule.in, rule.not)
				}
			}
			for only, by := range importedOnlyBy {
				if within(path, only) && !slices.ContainsFunc(by, func(dir string) bool { return within(file.dir, dir) }) {
					t.Errorf("%s imports %s, which only %v may", file.name, path, by)
				}
			}
		}
	}
}

// TestProcess holds that only main ends the process, and that nothing happens
// before it: no init function, and no logger that exits.
func TestProcess(t *testing.T) {
	t.Parallel()
	exits := map[string][]string{"os": {"Exit"}, "log": {"Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln"}}
	for _, file := range sources(t) {
		ast.Inspect(file.File, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				if node.Recv == nil && node.Name.Name == "init" {
					t.Errorf("%s has an init function", file.name)
				}
			case *ast.SelectorExpr:
				of, ok := node.X.(*ast.Ident)
				if ok && slices.Contains(exits[of.Name], node.Sel.Name) && file.name != "main.go" {
					t.Errorf("%s calls %s.%s", file.name, of.Name, node.Sel.Name)
				}
			}
			return true
		})
	}
}

// TestLayout holds that docs/layout.md names every package.
func TestLayout(t *testing.T) {
	t.Parallel()
	layout, err := os.ReadFile("docs/layout.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{".": true}
	for _, file := range sources(t) {
		if named[file.dir] {
			continue
		}
		named[file.dir] = true
		if !regexp.MustCompile("(?m)^" + file.dir + "/? ").Match(layout) {
			t.Errorf("docs/layout.md does not name %s", file.dir)
		}
	}
}

func TestCommandsExplainThemselves(t *testing.T) {
	t.Parallel()
	root := newRoot()
	root.PersistentFlags().VisitAll(func(flag *pflag.Flag) { checkFlag(t, root, flag) })
	visit(root, func(c *cobra.Command) {
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: Short is %q, want a phrase without a full stop", c.CommandPath(), c.Short)
		}
		if c.Example == "" && !c.HasSubCommands() {
			t.Errorf("%s has no example", c.CommandPath())
		}
		c.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) { checkFlag(t, c, flag) })
	})
}

func checkFlag(t *testing.T, c *cobra.Command, flag *pflag.Flag) {
	t.Helper()
	if flag.Usage == "" || strings.HasSuffix(flag.Usage, ".") {
		t.Errorf("%s: the usage of --%s is %q, want a phrase without a full stop", c.CommandPath(), flag.Name, flag.Usage)
	}
}

// newRoot is the command tree, on a factory that nothing is asked of.
func newRoot() *cobra.Command {
	return cmd.NewRootCmd(&cmd.Factory{Getenv: func(string) string { return "" }})
}

// visit calls do for c and every command below it.
func visit(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, child := range c.Commands() {
		visit(child, do)
	}
}

// source is a Go file of the module that is no test.
type source struct {
	*ast.File
	name string // its path in the module
	dir  string // the directory of its package
}

// sources parses the module.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	set := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(path)
		all = append(all, source{file, name, filepath.ToSlash(filepath.Dir(path))})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("found only %d Go files", len(all))
	}
	return all
}

// within tells whether a path is a tree's root or below it.
func within(path, tree string) bool {
	return path == tree || strings.HasPrefix(path, tree+"/")
}
