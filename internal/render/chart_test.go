package render_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"github.com/keyspacectl/keyspacectl/internal/render"
)

func TestBar(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		share   float64
		columns int
		want    string
	}{
		{0, 40, ""}, {-1, 40, ""}, {0.5, 9, ""}, {0.000001, 10, "▏"}, {1, 10, "██████████"}, {7, 10, "██████████"},
		{0.5, 10, "█████"}, {0.51, 10, "█████▏"}, {0.99, 10, "█████████▉"},
	} {
		if got := render.Bar(c.share, c.columns); got != c.want {
			t.Errorf("%v of %d columns: %q, want %q", c.share, c.columns, got, c.want)
		}
	}
}

func someCharts() []render.Chart {
	return []render.Chart{
		{Title: "ROWS", Lines: []render.ChartLine{{"live", "1,200", 1}, {"expired", "300", 0.25}, {"日本", "0", 0}}},
		{Title: "LARGEST", Lines: []render.ChartLine{{strings.Repeat("k", 60), "1.0 MiB", 0}}},
	}
}

func TestDraw(t *testing.T) {
	t.Parallel()
	for columns, want := range map[int]string{
		0: `ROWS
  live                                        1,200  ████████████████████████████████████████
  expired                                       300  ██████████
  日本                                            0
LARGEST
  kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk…  1.0 MiB`,
		70: `ROWS
  live                                        1,200  █████████████████
  expired                                       300  ████▎
  日本                                            0
LARGEST
  kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk…  1.0 MiB`,
		30: `ROWS
  live                   1,200
  expired                  300
  日本                       0
LARGEST
  kkkkkkkkkkkkkkkkkk…  1.0 MiB`,
	} {
		lines := render.Draw(someCharts(), columns)
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("in %d columns:\n%s\nwant\n%s", columns, got, want)
		}
		for _, line := range lines {
			if columns > 0 && displaywidth.String(line) > columns {
				t.Errorf("%d columns, not %d: %q", displaywidth.String(line), columns, line)
			}
		}
	}
}

// drawn has a part of which a report shows charts.
type drawn struct{}

func (drawn) Record(r *render.Record) {
	r.Float("rate", 2.0/3)
	r.Drawn("rows", part{"a", "b"}, someCharts()[:1])
}

func TestDrawn(t *testing.T) {
	t.Parallel()
	for format, want := range map[render.Format]string{
		render.JSON: `{"rate":0.667,"rows":{"name":"a","value":"b"}}` + "\n",
		render.TSV:  "0.667\t" + `{"name":"a","value":"b"}` + "\n",
		render.Table: `rate  0.667
rows  ROWS
        live     1,200  ███████████████
        expired    300  ███▊
        日本         0
`,
	} {
		var out bytes.Buffer
		p, err := render.New(&out, render.Options{Format: format, Width: 39}, render.Fields{Shown: []string{"rate", "rows"}})
		if err == nil {
			err = p.One(drawn{})
		}
		if err != nil || out.String() != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", format, err, &out, want)
		}
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]string{-5: "0s", 999: "0s", 61_000: "1m1s", 86_400_000: "1d"} {
		if got := render.Span(ms); got != want {
			t.Errorf("%d ms: %q, want %q", ms, got, want)
		}
	}
}
