// The members of a line that is one flat JSON object, in their order, without
// copying. Only strings, numbers, true, false and null are values here.

package archive

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	errSyntax = errors.New("it is no JSON object of plain values")
	errString = errors.New("it is no string")
	errNumber = errors.New("it is no number in its range")
	errBase64 = errors.New("it is no base64")
)

// object reads members from what is left of a line.
type object struct {
	rest  []byte
	begun bool
}

// next returns the name of the next member as it is written, and its value,
// quotes and all. It is io.EOF behind the last one.
func (o *object) next() (name, value []byte, err error) {
	want := byte(',')
	if !o.begun {
		o.begun = true
		if !o.take('{') {
			return nil, nil, errSyntax
		}
		want = 0
	}
	switch {
	case o.take('}'):
		if o.space(); len(o.rest) > 0 {
			return nil, nil, errSyntax
		}
		return nil, nil, io.EOF
	case want != 0 && !o.take(want):
		return nil, nil, errSyntax
	}
	o.space()
	quoted := o.quoted()
	if quoted == nil || !o.take(':') {
		return nil, nil, errSyntax
	}
	o.space()
	if len(o.rest) > 0 && o.rest[0] == '"' {
		value = o.quoted()
	} else {
		value = o.literal()
	}
	if len(value) == 0 {
		return nil, nil, errSyntax
	}
	return quoted[1 : len(quoted)-1], value, nil
}

func (o *object) space() {
	at := 0
	for at < len(o.rest) && (o.rest[at] == ' ' || o.rest[at] == '\t' || o.rest[at] == '\r' || o.rest[at] == '\n') {
		at++
	}
	o.rest = o.rest[at:]
}

func (o *object) take(c byte) bool {
	o.space()
	if len(o.rest) == 0 || o.rest[0] != c {
		return false
	}
	o.rest = o.rest[1:]
	return true
}

// quoted takes a string with its quotes, or returns nil where there is none.
func (o *object) quoted() []byte {
	if len(o.rest) == 0 || o.rest[0] != '"' {
		return nil
	}
	for at := 1; ; {
		end := bytes.IndexByte(o.rest[at:], '"')
		if end < 0 {
			return nil
		}
		at += end + 1
		if !escaped(o.rest[:at-1]) {
			value := o.rest[:at]
			o.rest = o.rest[at:]
			return value
		}
	}
}

// escaped tells whether what follows s is escaped: s ends in an odd number of
// backslashes.
func escaped(s []byte) bool {
	return (len(s)-len(bytes.TrimRight(s, `\`)))%2 == 1
}

func (o *object) literal() []byte {
	end := bytes.IndexAny(o.rest, ",} \t\r\n")
	if end < 0 {
		end = len(o.rest)
	}
	value := o.rest[:end]
	o.rest = o.rest[end:]
	return value
}

// text reads a string; name says whether it is in base64.
func text(name, value []byte) (string, error) {
	b, err := octets(name, value)
	return string(b), err
}

// octets reads the bytes that a string stands for. They may share memory with it.
func octets(name, value []byte) ([]byte, error) {
	if value[0] != '"' {
		return nil, errString
	}
	inner := value[1 : len(value)-1]
	if strings.HasSuffix(string(name), base64Suffix) {
		return decodeBase64(inner)
	}
	if plainText(inner) {
		return inner, nil
	}
	b, err := jsontext.AppendUnquote(make([]byte, 0, len(inner)), value)
	if err != nil {
		return nil, errString
	}
	return b, nil
}

// plainText tells whether a string stands for its own bytes: printable ASCII
// without escapes.
func plainText(s []byte) bool {
	for _, c := range s {
		if c < 0x20 || c >= 0x7f || c == '\\' {
			return false
		}
	}
	return true
}

// decodeBase64 decodes in place, through a block at a time.
func decodeBase64(s []byte) ([]byte, error) {
	var block [3 << 10]byte
	strict := base64.StdEncoding.Strict()
	n := 0
	for rest := s; len(rest) > 0; {
		size := min(len(rest), 4<<10)
		decoded, err := strict.Decode(block[:], rest[:size])
		rest = rest[size:]
		// Line ends, which the library passes over, leave a block short.
		if err != nil || len(rest) > 0 && decoded != len(block) || decoded < size/4*3-2 {
			return nil, errBase64
		}
		n += copy(s[n:], block[:decoded])
	}
	return s[:n], nil
}

// number reads a whole number of min to max in canonical decimal.
func number(value []byte, min, max int64) (int64, error) {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || n < min || n > max || strconv.FormatInt(n, 10) != string(value) {
		return 0, errNumber
	}
	return n, nil
}

// null tells whether a value is null.
func null(value []byte) bool { return string(value) == "null" }
