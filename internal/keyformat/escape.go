// Writing text that is safe to show: no byte of the data acts on the
// terminal, and nothing can end the line or turn its direction.

package keyformat

import (
	"strings"
	"unicode/utf8"
)

const hexAlphabet = "0123456789abcdef"

// Escape returns the form of s that [Parse] takes back as [Escaped]. Control
// characters, invalid UTF-8, separators of lines and paragraphs, characters
// that turn the direction of writing, and \ itself are escaped; all else,
// emoji and combining marks too, stays. It returns s itself when nothing is to
// be escaped.
func Escape(s string) string { return escape(s, true) }

// Printable returns s with the escapes of [Escape], except that \ stays: for
// messages, which are read and not taken back.
func Printable(s string) string { return escape(s, false) }

// Unsafe reports whether r must not reach a terminal as it is: a control
// character, a separator of lines or paragraphs, or one that turns the
// direction of writing.
func Unsafe(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r <= 0x9f:
		return true
	case r < 0x061c:
		return false
	}
	return r == 0x061c || r == 0x200e || r == 0x200f ||
		r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

func escape(s string, backslash bool) string {
	var out strings.Builder
	done := 0 // s[:done] is in out
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		invalid := r == utf8.RuneError && size == 1
		if !invalid && !Unsafe(r) && (r != '\\' || !backslash) {
			i += size
			continue
		}
		out.WriteString(s[done:i])
		next := i + size
		writeEscape(&out, s[i:next], next < len(s) && s[next] >= '0' && s[next] <= '9')
		i, done = next, next
	}
	if done == 0 {
		return s
	}
	out.WriteString(s[done:])
	return out.String()
}

// writeEscape writes the escape of one character. A NUL before a digit is not
// \0: many would read \012 as one octal escape.
func writeEscape(out *strings.Builder, char string, beforeDigit bool) {
	switch {
	case char == "\x00" && !beforeDigit:
		out.WriteString(`\0`)
	case char == "\t":
		out.WriteString(`\t`)
	case char == "\n":
		out.WriteString(`\n`)
	case char == "\r":
		out.WriteString(`\r`)
	case char == `\`:
		out.WriteString(`\\`)
	default:
		for i := range len(char) {
			out.WriteString(`\x`)
			out.WriteByte(hexAlphabet[char[i]>>4])
			out.WriteByte(hexAlphabet[char[i]&15])
		}
	}
}
