// Those pages of docs/ that come from the program are what it would write now.
// `go test . -run TestGeneratedDocs -update` writes them.

package main_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/keyspacectl/keyspacectl/cmd"
	"github.com/keyspacectl/keyspacectl/internal/docgen"
)

var update = flag.Bool("update", false, "write the generated docs")

func TestGeneratedDocs(t *testing.T) {
	t.Parallel()
	want := docgen.Pages(newRoot(), exitCodes(t))
	if *update {
		writePages(t, want)
	}
	found := map[string]bool{"exit-codes.md": true}
	files, err := filepath.Glob("docs/reference/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		found["reference/"+filepath.Base(file)] = true
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		delete(found, name)
		got, err := os.ReadFile(filepath.Join("docs", name))
		if err != nil || string(got) != want[name] {
			t.Errorf("docs/%s is out of date: run make fix", name)
		}
	}
	for name := range found {
		t.Errorf("docs/%s is of no command: run make fix", name)
	}
}

func writePages(t *testing.T, pages map[string]string) {
	t.Helper()
	if err := os.RemoveAll("docs/reference"); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("docs/reference", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join("docs", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// exitCodes is the table of exit statuses, as the program prints it.
func exitCodes(t *testing.T) []docgen.ExitCode {
	t.Helper()
	var out, failure bytes.Buffer
	f := &cmd.Factory{In: &bytes.Buffer{}, Out: &out, Err: &failure, Getenv: func(string) string { return "" }}
	if status := f.Run(t.Context(), []string{"help", "exit-codes", "-o", "json"}); status != 0 {
		t.Fatalf("help exit-codes: status %d, %s", status, &failure)
	}
	var codes []docgen.ExitCode
	if err := json.Unmarshal(out.Bytes(), &codes); err != nil {
		t.Fatal(err)
	}
	return codes
}
