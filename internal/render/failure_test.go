package render_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/render"
)

func TestError(t *testing.T) {
	t.Parallel()
	f := render.Failure{Code: 3, Kind: "not_found", Message: "no row \"a\\x00\"\n\x1b[2J", Hint: "try\tscan"}
	bare := render.Failure{Code: 1, Kind: "failed", Message: "no"}
	tests := []struct {
		format render.Format
		f      render.Failure
		want   string
	}{
		{render.Table, f, `error: no row "a\x00"\n\x1b[2J` + "\n" + `hint: try\tscan` + "\n"},
		{render.YAML, bare, "error: no\n"},
		{"", bare, "error: no\n"},
		{render.JSON, f, `{"code":3,"kind":"not_found","message":"no row \"a\\x00\"\n\u001b[2J","hint":"try\tscan"}` + "\n"},
		{render.NDJSON, bare, `{"code":1,"kind":"failed","message":"no","hint":null}` + "\n"},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		if err := render.Error(&out, tt.format, tt.f); err != nil || out.String() != tt.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", tt.format, err, &out, tt.want)
		}
	}
}

func TestReaderGoesAway(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	_ = r.Close()
	for name, w := range map[string]io.Writer{"a file": w, "a Go pipe": closedPipe()} {
		p, err := render.New(w, render.Options{Format: render.NDJSON}, itemFields)
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for ; rows < 10_000 && err == nil; rows++ {
			err = p.Row(items()[0])
		}
		if !render.IsBrokenPipe(err) || rows == 10_000 {
			t.Errorf("%s: %v after %d rows", name, err, rows)
		}
		if err := p.End(); !render.IsBrokenPipe(err) {
			t.Errorf("%s: End: %v", name, err)
		}
	}
	if render.IsBrokenPipe(nil) || render.IsBrokenPipe(io.EOF) {
		t.Error("IsBrokenPipe is true of other errors")
	}
}

func closedPipe() io.Writer {
	r, w := io.Pipe()
	_ = r.Close()
	return w
}

func TestIsBinary(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]bool{
		"": false, "plain\tüñ\r\n👍🏽": false, "\ufffd": false, "\u200fשלום": false,
		"a\x00": true, "\x1b[31m": true, "\xff": true, "\u009b": true, "日\xe6": true,
	} {
		if got := render.IsBinary([]byte(data)); got != want {
			t.Errorf("IsBinary(%q) = %v", data, got)
		}
	}
}

// when holds one moment.
type when int64

func (w when) Record(r *render.Record) { r.Time("at", int64(w)) }

func TestTimes(t *testing.T) {
	t.Parallel()
	const s, m, h, d = 1000, 60_000, 3600_000, 86400_000
	tests := []struct {
		ms                      int64
		relative, rfc3339, unix string
	}{
		{0, "-", "-", "-"},
		{now, "now", "2026-12-01T22:19:35.123Z", "1796163575.123"},
		{now + 999, "now", "2026-12-01T22:19:36.122Z", "1796163576.122"},
		{now - 999, "now", "2026-12-01T22:19:34.124Z", "1796163574.124"},
		{now + s, "in 1s", "2026-12-01T22:19:36.123Z", "1796163576.123"},
		{now - 5*m, "5m ago", "2026-12-01T22:14:35.123Z", "1796163275.123"},
		{now + 3*h + 12*m + 59*s, "in 3h12m", "2026-12-02T01:32:34.123Z", "1796175154.123"},
		{now + d, "in 1d", "2026-12-02T22:19:35.123Z", "1796249975.123"},
		{now - 40*d - 5*h, "40d5h ago", "2026-10-22T17:19:35.123Z", "1792689575.123"},
		{now + 800*d, "in 2y70d", "2029-02-08T22:19:35.123Z", "1865283575.123"},
		{7, "56y348d ago", "1970-01-01T00:00:00.007Z", "0.007"},
		{-7, "56y348d ago", "1969-12-31T23:59:59.993Z", "-0.007"},
		{253402300799999, "in 7978y138d", "9999-12-31T23:59:59.999Z", "253402300799.999"},
		{253402300800000, "253402300800000", "253402300800000", "253402300800.000"},
		{1<<63 - 1, "9223372036854775807", "9223372036854775807", "9223372036854775.807"},
		{-1 << 63, "-9223372036854775808", "-9223372036854775808", "-9223372036854775.808"},
	}
	for _, tt := range tests {
		for style, want := range map[render.TimeStyle]string{"": tt.relative, render.Relative: tt.relative, render.RFC3339: tt.rfc3339, render.Unix: tt.unix} {
			if got := printMoment(t, render.Options{Format: render.Table, Time: style}, tt.ms); got != "at  "+want {
				t.Errorf("%q of %d = %q, want %q", style, tt.ms, got, want)
			}
		}
		want := `{"at":"` + tt.rfc3339 + `"}`
		if tt.ms == 0 {
			want = `{"at":null}`
		}
		if got := printMoment(t, render.Options{Format: render.JSON, Time: render.Unix}, tt.ms); got != want {
			t.Errorf("JSON of %d = %s, want %s", tt.ms, got, want)
		}
	}
}

func printMoment(t *testing.T, o render.Options, ms int64) string {
	t.Helper()
	var out bytes.Buffer
	p, err := render.New(&out, o, render.Fields{Shown: []string{"at"}})
	if err != nil {
		t.Fatal(err)
	}
	p.SetNow(now)
	if err := p.One(when(ms)); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}
