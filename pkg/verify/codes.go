// The catalogue: every code that a finding can have, as one table that help and
// docs print.

package verify

import (
	"slices"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Code names a kind of violation. Codes begin with their store and stay the
// same from version to version.
type Code string

// Mending says how the findings of a code are mended.
type Mending string

// The ways of mending.
const (
	// None: it would be a guess, or there is nothing to do.
	None Mending = "none"
	// Safe: nothing that applications could read is lost.
	Safe Mending = "safe"
	// Named: it destroys data or puts it aside, so the code has to be named.
	Named Mending = "named"
)

// Entry is what the catalogue says of a code.
type Entry struct {
	Code     Code
	Store    Store
	Severity Severity
	Meaning  string // what is wrong, and what follows from it
	Mending  Mending
	Repair   string // what mending does, or what to do instead
}

// Catalogue returns every code, by store, worst first.
func Catalogue() []Entry {
	return slices.Concat(opaqueCodes(), blobCodes(), warmCodes())
}

// Destroying returns the codes that are mended only where they are named.
func Destroying() []Code {
	var codes []Code
	for _, e := range Catalogue() {
		if e.Mending == Named {
			codes = append(codes, e.Code)
		}
	}
	return codes
}

// ParseCode returns the code of that name; any other is storeerr.Invalid.
func ParseCode(name string) (Code, error) {
	code := Code(name)
	if code.entry().Code == "" {
		return "", storeerr.New(storeerr.Invalid, "unknown code %q", name).WithHint("see `keyspacectl verify --list-codes`")
	}
	return code, nil
}

// entry is the code's row of the catalogue, empty where it has none.
func (c Code) entry() Entry {
	for _, e := range Catalogue() {
		if e.Code == c {
			return e
		}
	}
	return Entry{}
}

// finding begins a finding of the code.
func (c Code) finding(prefix, redisKey, expected, found string) Finding {
	e := c.entry()
	return Finding{
		Code: c, Severity: e.Severity, Store: e.Store, Prefix: prefix, RedisKey: redisKey,
		Expected: expected, Found: found,
	}
}

// mended returns f with what mends it: the script, and what the catalogue says
// that it does.
func (f Finding) mended(by mend) Finding {
	f.mend, f.Repair = by, f.Code.entry().Repair
	return f
}
