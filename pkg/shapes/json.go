// Reading a JSON value: is it one, and which of its parts are worth a note.
// Nothing is converted, so numbers keep their digits and objects their order.

package shapes

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// readJSON collects the notes, and tells whether the value is JSON: one value,
// nested at most 10,000 deep.
func (s *ValueShape) readJSON(k kind) bool {
	// Names that stand twice are no concern here.
	d := jsontext.NewDecoder(strings.NewReader(s.value), jsontext.AllowDuplicateNames(true))
	name := ""
	for {
		switch kind := d.PeekKind(); kind {
		case '{', '}', '[', ']':
			if _, err := d.ReadToken(); err != nil {
				return false
			}
			if name = ""; d.StackDepth() == 0 {
				_, err := d.ReadToken()
				return errors.Is(err, io.EOF)
			}
			continue
		case '"', '0', 't', 'f', 'n':
		default:
			return false
		}
		isName := isNameNext(d)
		raw, err := d.ReadValue()
		if err != nil {
			return false
		}
		if isName {
			name = unquoted(raw)
			continue
		}
		if text := meaning(k, name, raw); text != "" && len(s.Notes) < maxNotes {
			s.note(string(d.StackPointer()), int(d.InputOffset()), text)
		}
		name = ""
	}
}

// isNameNext tells whether the next string of the decoder names a member.
func isNameNext(d *jsontext.Decoder) bool {
	container, length := d.StackIndex(d.StackDepth())
	return container == '{' && length%2 == 0
}

// unquoted is the text of a JSON string, as far as it matters here, and of
// anything else the text itself.
func unquoted(raw jsontext.Value) string {
	text := string(raw)
	if raw.Kind() != '"' {
		return text
	}
	if plain, err := jsontext.AppendUnquote(nil, raw); err == nil {
		return string(plain)
	}
	return text
}

// meaning says what a scalar in a member of that name stands for, or nothing.
func meaning(k kind, name string, raw jsontext.Value) string {
	if name == "" || raw.Kind() != '"' && raw.Kind() != '0' {
		return ""
	}
	isText := raw.Kind() == '"'
	switch {
	case name == "$bigint" && isText:
		if n := unquoted(raw); isDecimal(n) {
			return "the integer " + n
		}
	case name == "$bytes" && isText, name == "payload" && isText && strings.HasPrefix(k.label, authorityOf):
		return bytesNote(unquoted(raw))
	case isTimeName(name):
		return momentNote(unquoted(raw))
	}
	return ""
}

// The moments that a number of ms is taken for: from 1973 to the end of 9999.
const (
	minMoment = 100_000_000_000
	maxMoment = 253_402_300_799_999
)

func momentNote(text string) string {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !isDecimal(text) || ms < minMoment || ms > maxMoment {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}

// isTimeName tells whether one of the words in a member's name is one that
// names moments: expiresAt, created_at, lastSeenMs, deadline.
func isTimeName(name string) bool {
	if len(name) > 64 {
		return false
	}
	for _, word := range strings.FieldsFunc(spaced(name), func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch strings.ToLower(word) {
		case "at", "time", "timestamp", "date", "deadline", "until", "since", "seen", "expiry", "expires", "expiration",
			"created", "updated", "modified", "started", "ended", "epoch", "now":
			return true
		}
	}
	return false
}

// spaced puts a space before each capital that follows a small letter.
func spaced(name string) string {
	var b strings.Builder
	small := false
	for _, r := range name {
		if small && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		small = unicode.IsLower(r)
		b.WriteRune(r)
	}
	return b.String()
}
