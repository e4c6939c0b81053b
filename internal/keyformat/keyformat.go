// Package keyformat turns keys given as text into bytes, and bytes into text
// that is safe to show on a terminal.
//
// Keys are opaque bytes and often hold NUL between their segments. A shell
// cannot pass a NUL in an argument, and a terminal must not see control
// characters, so both ways go through the same escapes: what [Escape] prints,
// [Parse] takes back in the format [Escaped].
package keyformat

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The formats of a key given as text.
const (
	Literal = "literal" // the bytes as they are
	Escaped = "escaped" // with escapes: \0 \t \n \r \a \b \e \f \v \\ \" \' \xNN \uNNNN
	Hex     = "hex"     // two digits a byte, in either case
	Base64  = "base64"  // the standard alphabet, padded or not
)

// Formats returns the names that [Parse] knows.
func Formats() []string { return []string{Literal, Escaped, Hex, Base64} }

// Check returns an error that lists the formats unless format is one of them.
func Check(format string) error {
	if slices.Contains(Formats(), format) {
		return nil
	}
	return fmt.Errorf("unknown key format %q: one of %s", format, strings.Join(Formats(), ", "))
}

// Parse returns the bytes that text stands for in a format. An error names
// the byte of text at which it went wrong, counted from 1.
func Parse(format, text string) (string, error) {
	switch format {
	case Literal:
		return text, nil
	case Escaped:
		return unescape(text)
	case Hex:
		return parseHex(text)
	case Base64:
		return parseBase64(text)
	}
	return "", Check(format)
}

func parseHex(text string) (string, error) {
	data, err := hex.DecodeString(text)
	var bad hex.InvalidByteError
	switch {
	case errors.As(err, &bad):
		at := strings.IndexByte(text, byte(bad))
		return "", fmt.Errorf("no hex digit at byte %d of %q", at+1, text)
	case err != nil:
		return "", fmt.Errorf("an odd number of hex digits: %d", len(text))
	}
	return string(data), nil
}

func parseBase64(text string) (string, error) {
	// The decoder skips line ends; in a key they are a slip of the hand.
	if at := strings.IndexAny(text, "\r\n"); at >= 0 {
		return "", fmt.Errorf("bad base64 at byte %d of %q", at+1, text)
	}
	encoding := base64.StdEncoding
	if !strings.HasSuffix(text, "=") {
		encoding = base64.RawStdEncoding
	}
	data, err := encoding.Strict().DecodeString(text)
	if bad, ok := errors.AsType[base64.CorruptInputError](err); ok {
		return "", fmt.Errorf("bad base64 at byte %d of %q", int64(bad)+1, text)
	}
	return string(data), err
}
