package keyformat_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/keyspacectl/keyspacectl/internal/keyformat"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct{ format, text, want string }{
		{"literal", `a\0b`, `a\0b`},
		{"literal", "", ""},
		{"escaped", "", ""},
		{"escaped", "plain 日本語", "plain 日本語"},
		{"escaped", `cp\0\x01\x15\xc5`, "cp\x00\x01\x15\xc5"},
		{"escaped", `owner-lease\0123`, "owner-lease\x00123"},
		{"escaped", `\t\n\r\a\b\e\f\v\\\"\'`, "\t\n\r\a\b\x1b\f\v\\\"'"},
		{"escaped", `M\u00fcller \u65E5\x4a`, "Müller 日J"},
		{"hex", "6370000115c5", "cp\x00\x01\x15\xc5"},
		{"hex", "4DC3bc", "Mü"},
		{"base64", "Y3AAARXF", "cp\x00\x01\x15\xc5"},
		{"base64", "YQ==", "a"},
		{"base64", "YQ", "a"},
	}
	for _, tt := range tests {
		t.Run(tt.format+" "+tt.text, func(t *testing.T) {
			t.Parallel()
			got, err := keyformat.Parse(tt.format, tt.text)
			if err != nil || got != tt.want {
				t.Errorf("Parse = %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ format, text, want string }{
		{"escaped", `ab\`, `a lone \ (write \\) at byte 3 of "ab\\"`},
		{"escaped", `é\q`, `unknown escape \q at byte 3 of "é\\q"`},
		{"escaped", `\é`, `unknown escape \é at byte 1 of "\\é"`},
		{"escaped", "\\\x1b", `unknown escape \\x1b at byte 1 of "\\\x1b"`},
		{"escaped", `\\\x4`, `\x needs 2 hex digits at byte 3 of "\\\\\\x4"`},
		{"escaped", `\x+4`, `\x needs 2 hex digits at byte 1 of "\\x+4"`},
		{"escaped", `\u12g4`, `\u needs 4 hex digits at byte 1 of "\\u12g4"`},
		{"escaped", `\ud83d`, `\ud83d is half a surrogate pair at byte 1 of "\\ud83d"`},
		{"hex", "63g0", `no hex digit at byte 3 of "63g0"`},
		{"hex", "637", "an odd number of hex digits: 3"},
		{"base64", "YQ=", `bad base64 at byte 4 of "YQ="`},
		{"base64", "Y!==", `bad base64 at byte 2 of "Y!=="`},
		{"base64", "YWI\nj", `bad base64 at byte 4 of "YWI\nj"`},
		{"base64", "YR==", `bad base64 at byte 3 of "YR=="`},
		{"octal", "1", `unknown key format "octal": one of literal, escaped, hex, base64`},
	}
	for _, tt := range tests {
		t.Run(tt.format+" "+tt.text, func(t *testing.T) {
			t.Parallel()
			got, err := keyformat.Parse(tt.format, tt.text)
			if err == nil || err.Error() != tt.want || got != "" {
				t.Errorf("Parse = %q, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want, printable string }{
		{"", "", ""},
		{"plain", "plain", "plain"},
		{"cp\x00", `cp\0`, `cp\0`},
		{"a\x001", `a\x001`, `a\x001`},
		{"a\x00\x00b", `a\0\0b`, `a\0\0b`},
		{"a\tb\nc\rd", `a\tb\nc\rd`, `a\tb\nc\rd`},
		{`C:\dir`, `C:\\dir`, `C:\dir`},
		{"\x1b[31m\x07\x7f", `\x1b[31m\x07\x7f`, `\x1b[31m\x07\x7f`},
		{"\u0085\u009b", `\xc2\x85\xc2\x9b`, `\xc2\x85\xc2\x9b`},
		{"\xff\xc3", `\xff\xc3`, `\xff\xc3`},
		{"\ufffd", "\ufffd", "\ufffd"},
		{"a\u2028\u2029\u202e\u2066\u200f\u061cb", `a\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xd8\x9cb`, `a\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f\xd8\x9cb`},
		{"日本語👍🏽e\u0301👩\u200d🚀", "日本語👍🏽e\u0301👩\u200d🚀", "日本語👍🏽e\u0301👩\u200d🚀"},
	}
	for _, tt := range tests {
		if got := keyformat.Escape(tt.in); got != tt.want {
			t.Errorf("Escape(%q) = %s, want %s", tt.in, got, tt.want)
		}
		if got := keyformat.Printable(tt.in); got != tt.printable {
			t.Errorf("Printable(%q) = %s, want %s", tt.in, got, tt.printable)
		}
	}
}

// checkEscape holds Escape to what it promises of any bytes.
func checkEscape(t interface{ Fatalf(string, ...any) }, s string) {
	shown := keyformat.Escape(s)
	if back, err := keyformat.Parse(keyformat.Escaped, shown); err != nil || back != s {
		t.Fatalf("Parse(%q) = %q, %v; want %q", shown, back, err, s)
	}
	for _, text := range []string{shown, keyformat.Printable(s)} {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, keyformat.Unsafe) {
			t.Fatalf("unsafe text %q for %q", text, s)
		}
	}
}

func TestEscapeRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		checkEscape(t, rapid.OneOf(
			rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.StringMatching(`[\\x0-9\x00ut\x{2028}\x{200e}]*`),
		).Draw(t, "s"))
	})
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "cp\x00\x01", "\x000", `\`, "\xff", "\u009b", "👩\u200d🚀"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkEscape(t, s) })
}

func FuzzParse(f *testing.F) {
	f.Add("escaped", `a\0\x1`)
	f.Add("hex", "0g")
	f.Add("base64", "YQ=")
	f.Fuzz(func(t *testing.T, format, text string) {
		got, err := keyformat.Parse(format, text)
		if err != nil && (got != "" || strings.ContainsAny(err.Error(), "\r\n\x1b")) {
			t.Errorf("Parse(%q, %q) = %q, %q", format, text, got, err)
		}
	})
}

func TestUnsafeCoversControls(t *testing.T) {
	t.Parallel()
	for r := range rune(0x100) {
		want := r < 0x20 || r >= 0x7f && r <= 0x9f
		if got := keyformat.Unsafe(r); got != want {
			t.Errorf("Unsafe(%U) = %v", r, got)
		}
	}
}
