// Tests of what is and is not a length of time.
package duration_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/keyspacectl/keyspacectl/internal/duration"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"1ms":             time.Millisecond,
		"30s":             30 * time.Second,
		"24h":             24 * time.Hour,
		"7d":              7 * 24 * time.Hour,
		"2w":              14 * 24 * time.Hour,
		"1h30m":           90 * time.Minute,
		"1w2d3h4m5s6ms":   9*24*time.Hour + 3*time.Hour + 4*time.Minute + 5*time.Second + 6*time.Millisecond,
		"0h5m":            5 * time.Minute,
		"9223372036854ms": 9223372036854 * time.Millisecond,
	} {
		if got, err := duration.Parse(text); err != nil || got != want {
			t.Errorf("Parse(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                       "empty",
		"30":                     "no unit",
		"0":                      "no unit",
		"1h30":                   "no unit",
		"abc":                    "no length of time",
		"+5s":                    "no length of time",
		" 5s":                    "no length of time",
		"1.5h":                   "fraction",
		"5us":                    "unknown unit",
		"5ns":                    "unknown unit",
		"5s ":                    "unknown unit",
		"5S":                     "unknown unit",
		"0s":                     "zero",
		"0h0m":                   "zero",
		"-5s":                    "negative",
		"30m1h":                  "out of order",
		"1h1h":                   "out of order",
		"9223372036854775807ms":  "too long",
		"9223372036855ms":        "too long",
		"99999999999999999999ms": "too long",
		"15250w2d":               "too long",
		"106751d24h":             "too long",
	} {
		got, err := duration.Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %v, %v; want an error with %q", text, got, err, want)
		}
	}
}

func TestFormatIsParsedBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Range(1, 9223372036854).Draw(t, "ms")) * time.Millisecond
		if got, err := duration.Parse(duration.Format(want)); err != nil || got != want {
			t.Fatalf("Parse(Format(%v)) = %v, %v", want, got, err)
		}
	})
}
