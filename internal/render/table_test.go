package render_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"github.com/keyspacectl/keyspacectl/internal/render"
)

// wide holds keys and values that are easily measured wrong.
func wide() []*item {
	rows := []*item{{key: "key", value: strings.Repeat("x", 100), version: "1"}}
	for _, key := range []string{
		"日本語", "👍🏽", "e\u0301", "a\tb", "x\ny", "\x1b[31mred\x1b[0m", "\u009b31m", "…“±°”…", "─│┼", "👩\u200d👩\u200d👧", "🇩🇪🇯🇵", "❤\ufe0f", " sp ", "",
	} {
		rows = append(rows, &item{key: key, value: key, version: "2"})
	}
	return rows
}

func printWide(w io.Writer) {
	p, err := render.New(w, render.Options{Format: render.Table, Columns: []string{"key", "value", "version", "size"}}, itemFields)
	for _, row := range wide() {
		if err == nil {
			err = p.Row(row)
		}
	}
	if err == nil {
		err = p.End()
	}
	if err != nil {
		fmt.Fprintln(w, err)
	}
}

const wideTable = `KEY                 VALUE                                                             VERSION   SIZE
key                 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…  1        100 B
日本語              日本語                                                            2          9 B
👍🏽                  👍🏽                                                                2          8 B
`

func TestTableUnderLocales(t *testing.T) {
	t.Parallel()
	for _, locale := range []string{"C", "C.UTF-8", "zh_CN.UTF-8", "ja_JP.UTF-8"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = []string{"RENDER_PRINT_WIDE=1", "LC_ALL=" + locale, "LANG=" + locale}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", locale, err, out)
		}
		table := string(out)
		if !strings.HasPrefix(table, wideTable) {
			t.Errorf("%s:\n%s\nshould begin\n%s", locale, table, wideTable)
		}
		lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
		if len(lines) != 1+len(wide()) {
			t.Errorf("%s: %d lines for %d rows", locale, len(lines), len(wide()))
		}
		for _, line := range lines {
			if got, want := displaywidth.String(line), displaywidth.String(lines[0]); got != want {
				t.Errorf("%s: %d columns, not %d: %q", locale, got, want, line)
			}
			if strings.ContainsFunc(line, func(r rune) bool { return r < 0x20 || r >= 0x7f && r <= 0x9f }) {
				t.Errorf("%s: control characters in %q", locale, line)
			}
		}
	}
}

func TestTableFitsTerminal(t *testing.T) {
	t.Parallel()
	rows := []*item{
		{key: strings.Repeat("k", 40), value: strings.Repeat("日本", 20), version: "2f1c9a52-7a39-4a57-9c0e-2ab7a2f5c111", expiresAt: now - 301_000},
		{key: "short", value: "v", version: "1"},
	}
	// · stands for a space at the end of a line.
	tests := map[int]string{
		0: `KEY                                       VALUE                                                            VERSION                                SIZE  EXPIRES AT
kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk  日本日本日本日本日本日本日本日本日本日本日本日本日本日本日本日…  2f1c9a52-7a39-4a57-9c0e-2ab7a2f5c111  120 B  5m1s ago··
short                                     v                                                                1                                       1 B  never·····
`,
		100: `KEY                                       VALUE               VERSION               SIZE  EXPIRES AT
kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk  日本日本日本日本…   2f1c9a52-7a39-4a57…  120 B  5m1s ago··
short                                     v                   1                      1 B  never·····
`,
		64: `KEY                        VALUE     VERSION    SIZE  EXPIRES AT
kkkkkkkkkkkkkkkkkkkkkkkk…  日本日…   2f1c9a5…  120 B  5m1s ago··
short                      v         1           1 B  never·····
`,
		40: `KEY                   VALUE     VERSION·
kkkkkkkkkkkkkkkkkkk…  日本日…   2f1c9a5…
short                 v         1·······
`,
		10: `KEY·······
kkkkkkkkk…
short·····
`,
	}
	for limit, want := range tests {
		got := printed(t, render.Options{Format: render.Table, Width: limit}, false, rows...)
		if got != strings.ReplaceAll(want, "·", " ") {
			t.Errorf("width %d:\n%s\nwant\n%s", limit, got, want)
		}
		if first, _, _ := strings.Cut(got, "\n"); limit > 0 && displaywidth.String(first) != limit {
			t.Errorf("width %d: the table takes %d", limit, displaywidth.String(first))
		}
	}
}

func TestTableGrowsByBatch(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p, err := render.New(&out, render.Options{Format: render.Table, Columns: []string{"key", "version"}}, itemFields)
	if err != nil {
		t.Fatal(err)
	}
	page := func(rows ...*item) string {
		t.Helper()
		out.Reset()
		for _, row := range rows {
			if err := p.Row(row); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Flush(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for i, step := range []struct {
		rows []*item
		want string
	}{
		{nil, ""},
		{[]*item{{key: "aaaaaaa", version: "1"}}, "KEY      VERSION\naaaaaaa  1      \n"},
		{[]*item{{key: "b", version: "2"}}, "b        2      \n"},
		{[]*item{{key: "cccccccccc", version: "3"}, {key: "d", version: "4"}}, "cccccccccc  3      \nd           4      \n"},
		{[]*item{{key: "e", version: "5"}}, "e           5      \n"},
	} {
		if got := page(step.rows...); got != step.want {
			t.Errorf("page %d:\n%q, want\n%q", i, got, step.want)
		}
	}
	if err := p.End(); err != nil || out.String() != "e           5      \n" {
		t.Errorf("End: %v, %q", err, &out)
	}
}

func TestTableDoesNotGatherAll(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p, err := render.New(&out, render.Options{Format: render.Table}, itemFields)
	if err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if err := p.Row(items()[0]); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(out.String(), "\n"); got != 501 {
		t.Errorf("%d lines written after 500 rows", got)
	}
}

func TestPreviews(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		strings.Repeat("x", 64):              strings.Repeat("x", 64),
		strings.Repeat("x", 65):              strings.Repeat("x", 63) + "…",
		strings.Repeat("\x80", 5000):         strings.Repeat(`\x80`, 15) + `\x8…`,
		strings.Repeat("x\u0301", 64):        strings.Repeat("x\u0301", 64),
		"x" + strings.Repeat("\u0301", 9000): "x" + strings.Repeat("\u0301", 511) + "…",
	}
	for value, want := range tests {
		got := printed(t, render.Options{Format: render.Table, Columns: []string{"value"}}, true, &item{value: value})
		if got != "value  "+want+"\n" {
			t.Errorf("preview of %.20q… = %q, want %q", value, got, want)
		}
	}
}

// check is a result that is for reading.
type check struct{ key, state, text string }

func (c check) Record(r *render.Record) {
	r.Bytes("redis_key", c.key)
	r.Text("state", c.state)
	r.Text("what_is", c.text)
}

func TestTableIsReadWhole(t *testing.T) {
	t.Parallel()
	rows := []check{
		{"k", "ok", "a sentence that goes on in the next line"},
		{"a key of\n18 bytes", "failed", "not a-word-of-many-columns"},
	}
	tests := map[int]string{
		0: `REDIS KEY           STATE   WHAT IS
k                   ok      a sentence that goes on in the next line
a key of\n18 bytes  failed  not a-word-of-many-columns
`,
		53: `REDIS KEY           STATE   WHAT IS
k                   ok      a sentence that goes on
                            in the next line
a key of\n18 bytes  failed  not
                            a-word-of-many-columns
`,
		45: `redis_key  k
state      ok
what_is    a sentence that goes on in the
           next line

redis_key  a key of\n18 bytes
state      failed
what_is    not a-word-of-many-columns
`,
		24: `redis_key  k
state      ok
what_is    a sentence
           that goes on
           in the next
           line

redis_key  a key of\n18 bytes
state      failed
what_is    not
           a-word-of-many-columns
`,
	}
	for limit, want := range tests {
		var out bytes.Buffer
		p, err := render.New(&out, render.Options{Format: render.Table, Width: limit},
			render.Fields{Shown: []string{"redis_key", "state", "what_is"}, Whole: true})
		for _, row := range rows {
			if err == nil {
				err = p.Row(row)
			}
		}
		if err == nil {
			err = p.End()
		}
		if trim(out.String()) != want || err != nil {
			t.Errorf("width %d: %v\n%s\nwant\n%s", limit, err, &out, want)
		}
	}
}

// trim returns lines without the spaces at their ends.
func trim(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

func TestTableLeavesOut(t *testing.T) {
	t.Parallel()
	tests := []struct {
		limit int
		left  string
		want  string
	}{
		{40, "", "REDIS KEY  STATE  WHAT IS\nk          ok     text\n"},
		{22, "", "REDIS         WHAT\nKEY    STATE  IS\nk      ok     text\n"},
		{15, "state", "REDIS  WHAT\nKEY    IS\nk      text\n"},
		{9, "state what_is", "REDIS\nKEY\nk\n"},
	}
	for _, c := range tests {
		var out bytes.Buffer
		left := ""
		o := render.Options{Format: render.Table, Width: c.limit, LeftOut: func(columns []string) { left = strings.Join(columns, " ") }}
		p, err := render.New(&out, o, render.Fields{Shown: []string{"redis_key", "state", "what_is"}, Spare: []string{"state"}})
		if err == nil {
			err = p.Row(check{"k", "ok", "text"})
		}
		if err == nil {
			err = p.End()
		}
		if trim(out.String()) != c.want || left != c.left || err != nil {
			t.Errorf("width %d: left out %q, %v\n%s\nwant %q\n%s", c.limit, left, err, &out, c.left, c.want)
		}
	}
}
