// Package duration reads lengths of time as the command line takes them: whole
// numbers that each carry a unit, as in 30s, 1h30m or 7d.
//
// It differs from [time.ParseDuration] where a slip would be costly: days and
// weeks exist, zero and negative lengths do not, nothing is shorter than the
// millisecond that Redis counts in, and no fraction is rounded.
package duration

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// units are the known units from long to short, the order in which they may
// follow each other.
var units = [...]struct {
	name string
	size time.Duration
}{
	{"w", 7 * 24 * time.Hour},
	{"d", 24 * time.Hour},
	{"h", time.Hour},
	{"m", time.Minute},
	{"s", time.Second},
	{"ms", time.Millisecond},
}

// known lists the units for messages.
const known = "ms, s, m, h, d, w"

// Parse reads a positive length of time: one or more whole numbers, each with
// one of the units ms, s, m, h, d and w, from long to short ("1h30m"). The
// result is a whole number of milliseconds and at most about 292 years, what a
// [time.Duration] holds. The error is one line without the name of the
// setting, which the caller knows.
func Parse(text string) (time.Duration, error) {
	switch {
	case text == "":
		return 0, errors.New("is empty; write a length of time as 30s or 7d")
	case text[0] == '-':
		return 0, fmt.Errorf("%q is negative; a length of time is above zero, as 30s", text)
	case strings.ContainsAny(text, ".,"):
		return 0, fmt.Errorf("%q has a fraction; write whole numbers with units, as 1h30m", text)
	}
	var total time.Duration
	next := 0 // the first unit that may still follow
	for rest := text; rest != ""; {
		digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
		if digits == "" {
			return 0, fmt.Errorf("%q is no length of time; write whole numbers with units, as 30s or 1h30m", text)
		}
		rest = rest[len(digits):]
		name := rest
		if end := strings.IndexAny(rest, "0123456789"); end >= 0 {
			name = rest[:end]
		}
		rest = rest[len(name):]
		if name == "" {
			return 0, fmt.Errorf("%q has no unit (known: %s); seconds are written %ss", text, known, digits)
		}
		at := unit(name)
		switch {
		case at < 0:
			return 0, fmt.Errorf("%q has the unknown unit %q (known: %s)", text, name, known)
		case at < next:
			return 0, fmt.Errorf("%q has its units out of order; write the longer first and each once, as 1h30m", text)
		}
		next = at + 1
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n > int64(math.MaxInt64-total)/int64(units[at].size) {
			return 0, fmt.Errorf("%q is too long; at most about 292 years (106751d)", text)
		}
		total += time.Duration(n) * units[at].size
	}
	if total == 0 {
		return 0, fmt.Errorf("%q is zero; a length of time is above zero, as 30s", text)
	}
	return total, nil
}

// unit returns the index of a unit's name in units, or -1.
func unit(name string) int {
	for i, u := range units {
		if u.name == name {
			return i
		}
	}
	return -1
}

// Format writes d, a whole number of milliseconds, the way Parse reads it and
// a person would: 90m, 7d, 1h30m. Zero is "0s".
func Format(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	var b strings.Builder
	if d < 0 {
		b.WriteByte('-')
		d = -d
	}
	for _, u := range units[1:] {
		if n := d / u.size; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
			d -= n * u.size
		}
	}
	return b.String()
}

// Value is a [github.com/spf13/pflag.Value] that Parse fills.
type Value time.Duration

// Set parses text into v.
func (v *Value) Set(text string) error {
	d, err := Parse(text)
	if err != nil {
		return err
	}
	*v = Value(d)
	return nil
}

// String returns v as Parse reads it, and nothing for an unset v.
func (v *Value) String() string {
	if *v == 0 {
		return ""
	}
	return Format(time.Duration(*v))
}

// Type returns the word for the value in a usage text.
func (v *Value) Type() string { return "duration" }
