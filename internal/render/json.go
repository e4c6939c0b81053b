// Appending JSON. What it escapes beyond the need of JSON is what a terminal
// must not see: DEL, C1 controls, and characters that end lines or turn the
// direction of writing. HTML is no concern here: & and < stay.

package render

import (
	"encoding/base64"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/keyspacectl/keyspacectl/internal/keyformat"
)

const hexDigits = "0123456789abcdef"

// The years that RFC 3339 can write, in ms.
const (
	minRFC3339 = -62167219200000 // 0000-01-01
	maxRFC3339 = 253402300799999 // 9999-12-31
)

// appendString appends s as a JSON string; invalid UTF-8 becomes U+FFFD.
func appendString(buf []byte, s string) []byte {
	buf = append(buf, '"')
	done := 0 // s[:done] is in buf
	for i := 0; i < len(s); {
		b := s[i]
		if b >= 0x20 && b < 0x7f && b != '"' && b != '\\' {
			i++
			continue
		}
		r, size := rune(b), 1
		if b >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
			if !keyformat.Unsafe(r) && (r != utf8.RuneError || size > 1) {
				i += size
				continue
			}
		}
		buf = append(buf, s[done:i]...)
		buf = appendEscape(buf, r)
		i += size
		done = i
	}
	buf = append(buf, s[done:]...)
	return append(buf, '"')
}

func appendEscape(buf []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(buf, '\\', byte(r))
	case '\n':
		return append(buf, `\n`...)
	case '\r':
		return append(buf, `\r`...)
	case '\t':
		return append(buf, `\t`...)
	}
	return append(buf, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

func appendBase64(buf []byte, s string) []byte {
	buf = append(buf, '"')
	buf = base64.StdEncoding.AppendEncode(buf, []byte(s))
	return append(buf, '"')
}

// appendMoment appends a moment as [Record.Time] documents it.
func appendMoment(buf []byte, ms int64) []byte {
	if ms == 0 {
		return append(buf, "null"...)
	}
	buf = append(buf, '"')
	buf = appendRFC3339(buf, ms)
	return append(buf, '"')
}

// appendRFC3339 appends a moment in UTC with milliseconds, or the plain number
// of ms where the year has not four digits.
func appendRFC3339(buf []byte, ms int64) []byte {
	if ms < minRFC3339 || ms > maxRFC3339 {
		return strconv.AppendInt(buf, ms, 10)
	}
	return time.UnixMilli(ms).UTC().AppendFormat(buf, "2006-01-02T15:04:05.000Z")
}
