// The shell in which the commands of the docs and of help are typed.

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// result is what a command printed, to both streams, and its exit status.
type result struct {
	output string
	status int
}

// mark, and a status, stand before and behind each command's output.
const mark = "\x1e"

// runShell types commands in one shell, in a sandbox with sample data, started
// with these flags. What setup does beforehand goes unseen. A command that goes to no pipe and no
// file prints what it would print on a terminal.
func runShell(t *testing.T, setup string, commands []string, flags ...string) []result {
	t.Helper()
	var script strings.Builder
	fmt.Fprintf(&script, "set -o pipefail\nexec 2>&1\ncommand -v jq >/dev/null || jq() { cat >/dev/null; }\n%s\n", setup)
	for _, command := range commands {
		command = strings.Replace(command, "go run . ", "keyspacectl ", 1)
		output := "KEYSPACECTL_OUTPUT=table"
		if strings.ContainsAny(command, "|>") || strings.Contains(command, "$(") {
			output = "KEYSPACECTL_OUTPUT="
		}
		fmt.Fprintf(&script, "status=$?; printf '%s%%s%s' \"$status\"; export %s\n(exit $status)\n%s\n", mark, mark, output, command)
	}
	fmt.Fprintf(&script, "printf '%s%%s%s' \"$?\"\n", mark, mark)

	home := t.TempDir()
	file := filepath.Join(home, "script")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "keyspacectl", slices.Concat([]string{"sandbox"}, flags, []string{"--", "bash", file})...)
	c.Dir = t.TempDir()
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C.UTF-8", "GORACE=" + raceExit}
	printed, err := c.CombinedOutput()
	parts := strings.Split(string(printed), mark)
	if len(parts) != 2*len(commands)+3 {
		t.Fatalf("the shell stopped early: %v\n%s", err, printed)
	}
	results := make([]result, len(commands))
	for i := range results {
		status, err := strconv.Atoi(parts[2*i+3])
		if err != nil {
			t.Fatal(err)
		}
		results[i] = result{parts[2*i+2], status}
	}
	return results
}

// setups make what pages take to be there. The servers of the cookbook are the
// sandbox, and embedded ones in files. The sandbox also gets something of older
// layouts, by commands sent as they are.
func setups() map[string]string {
	return map[string]string{"docs/cookbook.md": `
keyspacectl copy --to-prefix app -q
cat >config.yaml <<EOF
contexts:
  - {name: prod, url: "$KEYSPACECTL_URL", prefix: app}
  - {name: staging, url: "embedded:staging", prefix: app-staging}
  - {name: cluster, url: "embedded:cluster", prefix: app}
  - {name: old, url: "$KEYSPACECTL_URL", prefix: shop}
EOF
server=${KEYSPACECTL_URL#redis://}
exec 3<>"/dev/tcp/${server%:*}/${server##*:}"
send() {
  local LC_ALL=C
  printf '*%d\r\n' $# >&3
  for arg; do printf '$%d\r\n%s\r\n' "${#arg}" "$arg" >&3; done
  read -r -t 60 <&3
}
send HSET shop:opaque:636172742f37 bytes full version 1
send HSET shop:opaque:636172742f38 bytes empty version 2
send SET shop:opaque:version 2
send SET shop:payload:receipt/7 paid EX 86400
send ZADD shop:{zlink-location-v3}:opaque:c9bc072f4fa8189466c2a8f2c36a56a4ef1e60a2ffa4986ba2f155cd176c128b 1 $'\x95\xa4busy\xa4flag\xa11\xff\xc2'
send SET shop:{zlink-location-v3}:opaque:sequence 1
exec 3>&-
export KEYSPACECTL_CONFIG=config.yaml
unset KEYSPACECTL_URL KEYSPACECTL_PREFIX`}
}

// examplesSetup makes what the examples of help name.
const examplesSetup = `
echo 'contexts: [{name: prod}, {name: live}, {name: staging, prefix: staging}]' >config.yaml; export KEYSPACECTL_CONFIG=config.yaml
keyspacectl put mykey v1 -q
keyspacectl export nightly.ndjson.zst -q
keyspacectl blob put manifest/1 --file <(keyspacectl blob read relocation/world-7) --retention 1h -q
for file in chunk.bin value.json payload.bin keys.txt; do echo '{}' >$file; done
echo '{"mutations":[{"kind":"put","key":"a","value":"1"}]}' >batch.json
mkdir -p blobs
printf '#!/bin/sh\n' >integration-test.sh; chmod +x integration-test.sh
token=00000000-0000-4000-8000-000000000000`

// TestExamples types every example of help. They speak of keys that may not
// be there; what they must not be is misunderstood.
func TestExamples(t *testing.T) {
	t.Parallel()
	var typed []typing
	visit(newRoot(), func(c *cobra.Command) {
		for _, example := range scriptTypings(c.CommandPath(), block{lines: strings.Split(c.Example, "\n")}) {
			if strings.HasPrefix(example.command, "keyspacectl sandbox") && !strings.Contains(example.command, " -- ") {
				continue // serves until it is told to end
			}
			typed = append(typed, example)
		}
	})
	commands := make([]string, len(typed))
	for i, example := range typed {
		commands[i] = example.command
	}
	for i, got := range runShell(t, examplesSetup, commands) {
		if got.status == 1 || got.status == 2 || got.status > 10 {
			t.Errorf("%s: %s\nends with status %d: %s", typed[i].at, commands[i], got.status, got.output)
		}
	}
}
