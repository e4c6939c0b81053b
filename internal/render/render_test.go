package render_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/render"
)

const now = 1796163575123 // 2026-12-01T22:19:35.123Z

// item is a row as the commands print them.
type item struct {
	key, value, version string
	expiresAt           int64
	missing             bool
}

func (i *item) Record(r *render.Record) {
	r.Bytes("key", i.key)
	if i.missing {
		r.Bool("found", false)
		r.Note("value", "(not found)")
		return
	}
	r.Value("value", i.value)
	r.Bytes("version", i.version)
	r.Size("size", int64(len(i.value)))
	r.Expiry("expires_at", i.expiresAt)
	r.Bool("live", true)
}

var itemFields = render.Fields{
	Shown:  []string{"key", "value", "version", "size", "expires_at"},
	Hidden: []string{"live", "found"},
	Raw:    "value",
}

func items() []*item {
	return []*item{
		{key: "cp\x00\x01", value: "a&b<c>\u2028", version: "7", expiresAt: now + 11520_000},
		{key: "Müller", value: "\xff\n", version: "248480010225057793"},
		{key: "gone", missing: true},
	}
}

func printed(t *testing.T, o render.Options, one bool, rows ...*item) string {
	t.Helper()
	var out bytes.Buffer
	o.Now = now
	p, err := render.New(&out, o, itemFields)
	if err != nil {
		t.Fatal(err)
	}
	if one {
		err = p.One(rows[0])
	} else {
		for _, row := range rows {
			if err := p.Row(row); err != nil {
				t.Fatal(err)
			}
		}
		err = p.End()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestFormats(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		o    render.Options
		one  bool
		rows []*item
		want string
	}{
		{"json list", render.Options{Format: render.JSON}, false, items(), `[
{"key":"cp\u0000\u0001","value":"a&b<c>\u2028","version":"7","size":9,"expires_at":"2026-12-02T01:31:35.123Z","live":true},
{"key":"Müller","value_base64":"/wo=","version":"248480010225057793","size":2,"expires_at":null,"live":true},
{"key":"gone","found":false}
]
`},
		{"json one", render.Options{Format: render.JSON}, true, items()[1:],
			`{"key":"Müller","value_base64":"/wo=","version":"248480010225057793","size":2,"expires_at":null,"live":true}` + "\n"},
		{"json none", render.Options{Format: render.JSON}, false, nil, "[]\n"},
		{"json columns", render.Options{Format: render.JSON, Columns: []string{"value", "found"}}, false, items(), `[
{"value":"a&b<c>\u2028"},
{"value_base64":"/wo="},
{"found":false}
]
`},
		{"ndjson", render.Options{Format: render.NDJSON, Columns: []string{"key"}}, false, items(), `{"key":"cp\u0000\u0001"}
{"key":"Müller"}
{"key":"gone"}
`},
		{"ndjson none", render.Options{Format: render.NDJSON}, false, nil, ""},
		{"yaml list", render.Options{Format: render.YAML}, false, items()[1:], `- key: "Müller"
  value_base64: "/wo="
  version: "248480010225057793"
  size: 2
  expires_at: null
  live: true
- key: "gone"
  found: false
`},
		{"yaml one", render.Options{Format: render.YAML, Columns: []string{"key", "size"}}, true, items(), `key: "cp\0\x01"
size: 9
`},
		{"yaml none", render.Options{Format: render.YAML}, false, nil, "[]\n"},
		{"table", render.Options{Format: render.Table}, false, items(), `
KEY       VALUE               VERSION             SIZE  EXPIRES AT
cp\0\x01  a&b<c>\xe2\x80\xa8  7                    9 B  in 3h12m··
Müller    \xff\n              248480010225057793   2 B  never·····
gone      (not found)                                   ··········
`},
		{"table none", render.Options{Format: render.Table}, false, nil, "KEY  VALUE  VERSION  SIZE  EXPIRES AT\n"},
		{"table none bare", render.Options{Format: render.Table, Headers: new(false)}, false, nil, ""},
		{"table columns", render.Options{Format: render.Table, Columns: []string{"live", "size", "key"}}, false, items(), `
LIVE  SIZE  KEY·····
true   9 B  cp\0\x01
true   2 B  Müller··
            gone····
`},
		{"table one", render.Options{Format: render.Table}, true, items(), `
key         cp\0\x01
value       a&b<c>\xe2\x80\xa8
version     7
size        9 B
expires_at  in 3h12m
`},
		{"table one with header", render.Options{Format: render.Table, Headers: new(true), Columns: []string{"key"}}, true, items(), `
FIELD  VALUE
key    cp\0\x01
`},
		{"table in colour", render.Options{Format: render.Table, Columns: []string{"size"}, Color: true}, false, items()[:1], "\x1b[1mSIZE\x1b[0m\n 9 B\n"},
		{"table unix", render.Options{Format: render.Table, Columns: []string{"expires_at"}, Time: render.Unix, Headers: new(false)}, false, items(), "1796175095.123\nnever·········\n··············\n"},
		{"tsv", render.Options{Format: render.TSV}, false, items(),
			"cp\\0\\x01\ta&b<c>\\xe2\\x80\\xa8\t7\t9\t2026-12-02T01:31:35.123Z\nMüller\t\\xff\\n\t248480010225057793\t2\t\ngone\t\t\t\t\n"},
		{"tsv one", render.Options{Format: render.TSV, Time: render.Relative, Headers: new(true), Columns: []string{"expires_at", "key"}}, true, items(),
			"expires_at\tkey\nin 3h12m\tcp\\0\\x01\n"},
		{"tsv none", render.Options{Format: render.TSV}, false, nil, ""},
		{"tsv none with header", render.Options{Format: render.TSV, Headers: new(true)}, false, nil, "key\tvalue\tversion\tsize\texpires_at\n"},
		{"raw", render.Options{Format: render.Raw}, true, items()[1:], "\xff\n"},
		{"raw ignores columns", render.Options{Format: render.Raw, Columns: []string{"key"}}, true, items()[1:], "\xff\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := tt.want
			if tt.o.Format == render.Table {
				want = strings.ReplaceAll(strings.TrimPrefix(want, "\n"), "·", " ")
			}
			if got := printed(t, tt.o, tt.one, tt.rows...); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		o      render.Options
		fields render.Fields
		want   string
	}{
		{render.Options{Format: "xml"}, itemFields, `unknown output format "xml": one of table, tsv, json, ndjson, yaml, raw`},
		{render.Options{}, itemFields, `unknown output format "": one of table, tsv, json, ndjson, yaml, raw`},
		{render.Options{Format: render.JSON, Columns: []string{"key", "ttl"}}, itemFields,
			`unknown column "ttl": one of key, value, version, size, expires_at, live, found`},
		{render.Options{Format: render.TSV, Columns: []string{"key", "key"}}, itemFields, `column "key" is named twice`},
		{render.Options{Format: render.Raw}, render.Fields{Shown: []string{"a"}}, "output format raw is for commands that give one value"},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		p, err := render.New(&out, tt.o, tt.fields)
		if err == nil || err.Error() != tt.want || p != nil || out.Len() > 0 {
			t.Errorf("New(%+v) = %v, %v\nwant %s", tt.o, p, err, tt.want)
		}
	}
	if _, err := render.ParseTimeStyle("iso"); err == nil || err.Error() != `unknown time style "iso": one of relative, rfc3339, unix` {
		t.Errorf("ParseTimeStyle: %v", err)
	}
	if got, err := render.ParseFormat("ndjson"); got != render.NDJSON || err != nil {
		t.Errorf("ParseFormat = %q, %v", got, err)
	}
}

func TestRawRefusesLists(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p, err := render.New(&out, render.Options{Format: render.Raw}, itemFields)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Row(items()[0]); err == nil || out.Len() > 0 {
		t.Errorf("Row = %v, output %q", err, &out)
	}
}

// everything has a field of each sort.
type everything struct{}

func (everything) Record(r *render.Record) {
	r.Text("text", "007 \\ \x1b\xff")
	r.Int("int", -1<<63)
	r.Null("null")
	r.Time("time", 1)
	r.Time("far", 1<<62)
	r.Object("object", render.Failure{Code: 3, Kind: "not_found", Message: "no"})
	render.List(r, "list", items()[2:])
	render.Ints(r, "ints", []uint32{1, 4294967295})
	render.Texts(r, "texts", nil)
}

func TestSortsOfFields(t *testing.T) {
	t.Parallel()
	fields := render.Fields{Shown: []string{"text", "int", "null", "time", "far", "object", "list", "ints", "texts"}}
	want := map[render.Format]string{
		render.JSON: `{"text":"007 \\ \u001b\ufffd","int":-9223372036854775808,"null":null,"time":"1970-01-01T00:00:00.001Z","far":"4611686018427387904",` +
			`"object":{"code":3,"kind":"not_found","message":"no","hint":null},"list":[{"key":"gone","found":false}],"ints":[1,4294967295],"texts":[]}` + "\n",
		render.TSV: `007 \ \x1b\xff` + "\t-9223372036854775808\t\t1970-01-01T00:00:00.001Z\t4611686018427387904\t" +
			`{"code":3,"kind":"not_found","message":"no","hint":null}` + "\t" + `[{"key":"gone","found":false}]` + "\t[1,4294967295]\t[]\n",
		render.Table: `text    007 \ \x1b\xff
int     -9223372036854775808
null    -
time    56y348d ago
far     4611686018427387904
object  {"code":3,"kind":"not_found","message":"no","hint":null}
list    KEY   FOUND  VALUE
        gone  false  (not found)
ints    [1,4294967295]
texts   []
`,
		render.YAML: `text: "007 \\ \e�"
int: -9223372036854775808
"null": null
time: "1970-01-01T00:00:00.001Z"
far: "4611686018427387904"
object:
  code: 3
  kind: "not_found"
  message: "no"
  hint: null
list:
  - key: "gone"
    found: false
ints:
  - 1
  - 4294967295
texts: []
`,
	}
	for format, want := range want {
		var out bytes.Buffer
		p, err := render.New(&out, render.Options{Format: format, Now: now}, fields)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.One(everything{}); err != nil || out.String() != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", format, err, &out, want)
		}
	}
}

// TestMain serves TestTableUnderLocales: the libraries below read the locale
// as the process starts, so that another locale takes another process.
func TestMain(m *testing.M) {
	if os.Getenv("RENDER_PRINT_WIDE") != "" {
		printWide(os.Stdout)
		return
	}
	m.Run()
}
