// The two sides of a command that has two.
//
// A side has flags of its own that say where it is: --left-context, --left-url,
// --left-prefix. What they do not say is as in any other command. The context
// that a side names is where it is, too: its server, with all that belongs to
// one, and its prefix stand above the global flags and the variables, which
// would else lead both sides to the same place. No side gets the credentials
// that stand beside another address.

package config

import (
	"maps"

	"github.com/spf13/pflag"
)

// sideSettings are the settings that have a flag a side.
func sideSettings() []Setting {
	var settings []Setting
	for _, name := range []string{"context", "url", "prefix"} {
		s, _ := lookup(name, inFlags)
		settings = append(settings, s)
	}
	return settings
}

// RegisterSide adds the flags of a side to flags. It is named by the word that
// they begin with: "left", "to".
func RegisterSide(flags *pflag.FlagSet, side string) {
	usages := map[string]string{
		"context": "the " + side + " side is where the context `NAME` leads",
		"url":     "the server of the " + side + " side as a `URL`",
		"prefix":  "the key `PREFIX` of the " + side + " side",
	}
	for _, s := range sideSettings() {
		flags.Var(&flagValue{setting: s}, side+"-"+s.Name, usages[s.Name])
	}
}

// LoadSide is [Load] for a side that RegisterSide made flags of.
func LoadSide(flags *pflag.FlagSet, getenv func(string) string, side string) (*Settings, error) {
	l := newLoader()
	l.side = side
	return l.load(flags, getenv)
}

// readSide takes the flags of the side that were given.
func (l *loader) readSide(flags *pflag.FlagSet) error {
	if l.side == "" {
		return nil
	}
	l.given[sideLevel] = map[string]string{}
	for _, s := range sideSettings() {
		if flag := flags.Lookup(l.side + "-" + s.Name); flag != nil && flag.Changed {
			l.given[sideLevel][s.Name] = flag.Value.String()
		}
	}
	return l.validate(sideLevel)
}

// raiseContext lets the context that a side names say where the side is. One
// without an address says so of the prefix alone.
func (l *loader) raiseContext() {
	given := maps.Clone(l.given[contextLevel])
	raised := map[string]string{}
	hasAddress := given["url"] != "" || given["addr"] != ""
	for _, s := range All() {
		value, ok := given[s.Name]
		if ok && (s.Name == "prefix" || hasAddress && (s.server || s.bound)) {
			raised[s.Name] = value
			delete(given, s.Name)
		}
	}
	l.given[contextLevel], l.given[sideContextLevel] = given, raised
}
