// Reading the escaped form.

package keyformat

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// unescape resolves the escapes in text. \0 takes no further digits: \012 is a
// NUL and the digits 12.
func unescape(text string) (string, error) {
	at := strings.IndexByte(text, '\\')
	if at < 0 {
		return text, nil
	}
	out := make([]byte, 0, len(text))
	rest := text
	for at >= 0 {
		out = append(out, rest[:at]...)
		rest = rest[at:]
		var size int
		var err error
		if out, size, err = appendEscape(out, rest); err != nil {
			return "", fmt.Errorf("%w at byte %d of %q", err, len(text)-len(rest)+1, text)
		}
		rest = rest[size:]
		at = strings.IndexByte(rest, '\\')
	}
	return string(append(out, rest...)), nil
}

// appendEscape appends what the escape at the start of text stands for, and
// returns the length of the escape.
func appendEscape(out []byte, text string) ([]byte, int, error) {
	if len(text) < 2 {
		return nil, 0, fmt.Errorf(`a lone \ (write \\)`)
	}
	switch text[1] {
	case 'x':
		n, err := hexDigits(text, 2)
		return append(out, byte(n)), 4, err
	case 'u':
		n, err := hexDigits(text, 4)
		if err == nil && !utf8.ValidRune(rune(n)) {
			err = fmt.Errorf("%s is half a surrogate pair", text[:6])
		}
		return utf8.AppendRune(out, rune(n)), 6, err
	}
	if b, ok := simpleEscape(text[1]); ok {
		return append(out, b), 2, nil
	}
	_, size := utf8.DecodeRuneInString(text[1:])
	return nil, 0, fmt.Errorf("unknown escape %s", Printable(text[:1+size]))
}

func hexDigits(text string, count int) (uint64, error) {
	digits := text[2:min(len(text), 2+count)]
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) < count {
		return 0, fmt.Errorf(`\%c needs %d hex digits`, text[1], count)
	}
	return n, nil
}

func simpleEscape(c byte) (byte, bool) {
	switch c {
	case '\\', '"', '\'':
		return c, true
	case '0':
		return 0, true
	case 't':
		return '\t', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 'a':
		return '\a', true
	case 'b':
		return '\b', true
	case 'e':
		return 0x1b, true
	case 'f':
		return '\f', true
	case 'v':
		return '\v', true
	}
	return 0, false
}
