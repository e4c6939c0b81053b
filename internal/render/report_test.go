package render_test

import (
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/render"
)

type part struct{ name, value string }

func (p part) Record(r *render.Record) {
	r.Text("name", p.name)
	if p.value != "" {
		r.Value("value", p.value)
	}
}

type report struct{ json string }

func (v report) Record(r *render.Record) {
	r.Text("a", "x")
	r.JSON("decoded", v.json, []string{"{", "  \x1b1", "}"})
	r.Lines("text", "one\ntwo", []string{"one", "two"})
	render.List(r, "parts", []part{{"p", ""}, {"longer", "v"}})
	render.List(r, "none", []part{})
	render.Texts(r, "damage", []string{"this", "that"})
}

func reported(t *testing.T, o render.Options, v render.Recorder, list bool) string {
	t.Helper()
	var out strings.Builder
	p, err := render.New(&out, o, render.Fields{Shown: []string{"a", "decoded", "text", "parts", "none", "damage"}})
	if err != nil {
		t.Fatal(err)
	}
	if list {
		err = p.Row(v)
		if err == nil {
			err = p.End()
		}
	} else {
		err = p.One(v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestReport(t *testing.T) {
	t.Parallel()
	v := report{`{"n":15947634569000323,"s":"` + "\u0085" + `\ud83d\ude00"}`}
	got := reported(t, render.Options{Format: render.Table}, v, false)
	want := `a        x
decoded  {
           \x1b1
         }
text     one
         two
parts    NAME    VALUE
         p
         longer  v
none     []
damage   this
         that
`
	if got != want {
		t.Errorf("a report is\n%s\nwant\n%s", got, want)
	}
	got = reported(t, render.Options{Format: render.Table, Width: 20}, v, false)
	for line := range strings.Lines(got) {
		if len([]rune(strings.TrimSuffix(line, "\n"))) > 20 {
			t.Errorf("the line %q is wider than the terminal", line)
		}
	}
	for format, want := range map[render.Format]string{
		render.JSON:   `{"a":"x","decoded":{"n":15947634569000323,"s":"\u0085\ud83d\ude00"},"text":"one\ntwo","parts":[{"name":"p"},{"name":"longer","value":"v"}],"none":[],"damage":["this","that"]}` + "\n",
		render.NDJSON: `{"a":"x","decoded":{"n":15947634569000323,"s":"\u0085\ud83d\ude00"},"text":"one\ntwo","parts":[{"name":"p"},{"name":"longer","value":"v"}],"none":[],"damage":["this","that"]}` + "\n",
		render.TSV:    `x` + "\t" + `{"n":15947634569000323,"s":"\xc2\x85\ud83d\ude00"}` + "\t" + `one\ntwo` + "\t" + `[{"name":"p"},{"name":"longer","value":"v"}]` + "\t[]\t" + `["this","that"]` + "\n",
	} {
		if got := reported(t, render.Options{Format: format}, v, false); got != want {
			t.Errorf("%s is\n%s\nwant\n%s", format, got, want)
		}
	}
	got = reported(t, render.Options{Format: render.YAML}, v, false)
	for _, want := range []string{"  n: 15947634569000323\n", `  s: "\N\U0001F600"`} {
		if !strings.Contains(got, want) {
			t.Errorf("YAML lacks %q:\n%s", want, got)
		}
	}
	if got := reported(t, render.Options{Format: render.Table}, v, true); strings.Count(got, "\n") != 2 {
		t.Errorf("a row of a list is\n%s", got)
	}
}
