package render_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/keyspacectl/keyspacectl/internal/keyformat"
	"github.com/keyspacectl/keyspacectl/internal/render"
)

// bytesOf draws text that is valid UTF-8, and bytes that are not.
func bytesOf(t *rapid.T, name string) string {
	return rapid.OneOf(
		rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.StringMatching(`[\x00-\x{a0}\\"\x{2020}-\x{2070}\x{feff}\x{1f300}]*`),
		rapid.SampledFrom([]string{"", "null", "yes", "007", "1e3", "~", "- a", "a: b", "2001-01-01"}),
	).Draw(t, name)
}

func draw(t *rapid.T) *item {
	return &item{
		key: bytesOf(t, "key"), value: bytesOf(t, "value"), version: bytesOf(t, "version"),
		expiresAt: rapid.Int64().Draw(t, "expires at"),
	}
}

func printOne(t *rapid.T, o render.Options, v render.Recorder) string {
	var out bytes.Buffer
	p, err := render.New(&out, o, itemFields)
	if err == nil {
		err = p.Row(v)
	}
	if err == nil {
		err = p.End()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// bytesIn returns the bytes that a field of a document stands for.
func bytesIn(t *rapid.T, fields map[string]any, name string) string {
	if v, ok := fields[name].(string); ok {
		return v
	}
	v, ok := fields[name+"_base64"].(string)
	data, err := base64.StdEncoding.DecodeString(v)
	if !ok || err != nil || utf8.Valid(data) {
		t.Fatalf("%s_base64 is %q (%v) in %v", name, v, err, fields)
	}
	return string(data)
}

func TestWhatIsPrintedReadsBack(t *testing.T) {
	t.Parallel()
	parsers := map[render.Format]func([]byte, any) error{
		render.NDJSON: json.Unmarshal,
		render.JSON:   json.Unmarshal,
		render.YAML:   yaml.Unmarshal,
	}
	rapid.Check(t, func(t *rapid.T) {
		row := draw(t)
		for format, parse := range parsers {
			out := printOne(t, render.Options{Format: format}, row)
			var fields map[string]any
			list := []map[string]any{}
			var err error
			if format == render.NDJSON {
				err = parse([]byte(out), &fields)
			} else if err = parse([]byte(out), &list); err == nil {
				fields = list[0]
			}
			if err != nil {
				t.Fatalf("%s: %v in %q", format, err, out)
			}
			for name, want := range map[string]string{"key": row.key, "value": row.value, "version": row.version} {
				if got := bytesIn(t, fields, name); got != want {
					t.Fatalf("%s: %s reads back as %q, not %q, from %s", format, name, got, want, out)
				}
			}
			if strings.ContainsFunc(out, func(r rune) bool { return r != '\n' && keyformat.Unsafe(r) }) {
				t.Fatalf("%s: unsafe for a terminal: %q", format, out)
			}
		}
	})
}

func TestRowsAreLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		row := draw(t)
		for _, o := range []render.Options{
			{Format: render.TSV}, {Format: render.Table, Headers: new(false)}, {Format: render.Table, Headers: new(false), Width: 40},
		} {
			out := printOne(t, o, row)
			line, rest, ok := strings.Cut(out, "\n")
			if !ok || rest != "" {
				t.Fatalf("%s: not one line: %q", o.Format, out)
			}
			if o.Format == render.TSV {
				cells := strings.Split(line, "\t")
				key, err := keyformat.Parse(keyformat.Escaped, cells[0])
				if len(cells) != len(itemFields.Shown) || err != nil || key != row.key {
					t.Fatalf("%d cells, key %q (%v) in %q", len(cells), key, err, line)
				}
				line = strings.Join(cells, "")
			}
			if strings.ContainsFunc(line, keyformat.Unsafe) || !utf8.ValidString(line) {
				t.Fatalf("%s: unsafe for a terminal: %q", o.Format, line)
			}
		}
	})
}

// one holds one string, given as bytes and as text.
type one string

func (o one) Record(r *render.Record) {
	r.Bytes("bytes", string(o))
	r.Text("text", string(o))
}

func FuzzJSONString(f *testing.F) {
	for _, s := range []string{"", "a&b<c>", "\x00\x1f\x7f", `"\`, "\xff", "\u2028\u009b", "\ufffd👩\u200d🚀"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var out bytes.Buffer
		p, err := render.New(&out, render.Options{Format: render.JSON}, render.Fields{Shown: []string{"bytes", "text"}})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.One(one(s)); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Bytes  *string
			Base64 []byte `json:"bytes_base64"`
			Text   string
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%v in %q", err, &out)
		}
		if got.Bytes != nil && *got.Bytes != s || got.Bytes == nil && string(got.Base64) != s {
			t.Errorf("%q for %q", &out, s)
		}
		if utf8.ValidString(s) && got.Text != s || !utf8.ValidString(got.Text) {
			t.Errorf("text %q for %q", got.Text, s)
		}
	})
}

func BenchmarkRow(b *testing.B) {
	row := &item{key: "mesh-node\x00eu-1\x000123456789", value: `{"state":"ready","seq":17}`, version: "248480010225057793", expiresAt: now}
	for _, format := range []render.Format{render.NDJSON, render.JSON, render.TSV, render.Table, render.YAML} {
		b.Run(string(format), func(b *testing.B) {
			p, err := render.New(io.Discard, render.Options{Format: format, Now: now}, itemFields)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Row(row); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkValue(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		row := &item{key: "k", value: strings.Repeat("x", size), version: "1"}
		for _, format := range []render.Format{render.NDJSON, render.TSV, render.Table, render.YAML} {
			b.Run(string(format)+" "+strconv.Itoa(size), func(b *testing.B) {
				p, err := render.New(io.Discard, render.Options{Format: format}, itemFields)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(size))
				for b.Loop() {
					if err := p.Row(row); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
