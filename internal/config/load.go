// Loading: which place a value comes from.

package config

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/keyspacectl/keyspacectl/internal/keyformat"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// level is a place that values come from; a higher one wins.
type level int

const (
	none level = iota
	contextLevel
	environmentLevel
	flagLevel
	sideContextLevel // where a side's context leads; see LoadSide
	sideLevel        // the flags of a side

	topLevel = sideLevel
)

// loader holds what each place gives.
type loader struct {
	viper     *viper.Viper
	file      *file
	side      string // the side whose flags count, or empty
	context   string // the context in use, or empty
	given     [topLevel + 1]map[string]string
	redisAuth string // REDISCLI_AUTH
	noColor   bool   // NO_COLOR stands in for KEYSPACECTL_COLOR
	unused    string // which credentials were left out

	passwordCommand string // prints the password, or empty
}

// Load reads the settings from flags that RegisterFlags made and that are
// parsed, from the environment and from the config file. getenv is
// [os.Getenv]; a variable that is empty counts as absent. Load opens no
// connection, and reads the password file if one is used.
func Load(flags *pflag.FlagSet, getenv func(string) string) (*Settings, error) {
	return newLoader().load(flags, getenv)
}

func (l *loader) load(flags *pflag.FlagSet, getenv func(string) string) (*Settings, error) {
	if err := l.readGiven(flags, getenv); err != nil {
		return nil, err
	}
	if err := l.readContext(getenv); err != nil {
		return nil, err
	}
	l.dropBound()
	if err := l.merge(flags); err != nil {
		return nil, err
	}
	return l.settings()
}

func newLoader() *loader { return &loader{viper: viper.New()} }

// LoadWithoutFile is [Load] as if there were no config file and no context: for
// commands that are about the file, which may be broken or lack the context.
func LoadWithoutFile(flags *pflag.FlagSet, getenv func(string) string) (*Settings, error) {
	l := newLoader()
	if err := l.readGiven(flags, getenv); err != nil {
		return nil, err
	}
	l.file = &file{}
	l.dropBound()
	if err := l.merge(flags); err != nil {
		return nil, err
	}
	return l.settings()
}

// readGiven takes what the flags and the environment give.
func (l *loader) readGiven(flags *pflag.FlagSet, getenv func(string) string) error {
	if err := l.readFlags(flags); err != nil {
		return err
	}
	if err := l.readSide(flags); err != nil {
		return err
	}
	return l.readEnvironment(getenv)
}

// readFlags takes the flags that were given, be it with their default's value.
func (l *loader) readFlags(flags *pflag.FlagSet) error {
	l.given[flagLevel] = map[string]string{}
	for _, s := range All() {
		if flag := flags.Lookup(s.Name); flag != nil && flag.Changed {
			l.given[flagLevel][s.Name] = flag.Value.String()
		}
	}
	return l.validate(flagLevel)
}

func (l *loader) readEnvironment(getenv func(string) string) error {
	l.given[environmentLevel] = map[string]string{}
	for _, s := range All() {
		if value := getenv(s.Variable()); value != "" && s.places&inEnvironment != 0 {
			l.given[environmentLevel][s.Name] = value
		}
	}
	l.redisAuth = getenv("REDISCLI_AUTH")
	if _, ok := l.given[environmentLevel]["color"]; !ok && getenv("NO_COLOR") != "" {
		l.given[environmentLevel]["color"], l.noColor = "never", true
	}
	return l.validate(environmentLevel)
}

// readContext reads the config file and takes the chosen context's values.
func (l *loader) readContext(getenv func(string) string) error {
	path, mustExist, err := l.filePath(getenv)
	if err != nil {
		return err
	}
	l.file = &file{path: path}
	if path != "" {
		if l.file, err = readFile(path, mustExist); err != nil {
			return err
		}
	}
	name, from := l.first("context")
	if from == none {
		name = l.file.current
	}
	if name == "" {
		return nil
	}
	chosen, ok := l.file.context(name)
	if !ok {
		return l.invalidAt("context", from, fmt.Errorf("there is no context %q%s", name, l.file.known()))
	}
	l.context, l.given[contextLevel] = name, chosen.values
	if from == sideLevel {
		l.raiseContext()
	}
	return nil
}

// filePath returns where the config file is, or nothing when there is no place
// for one, and whether somebody named it.
func (l *loader) filePath(getenv func(string) string) (path string, named bool, err error) {
	path, from := l.first("config")
	switch {
	case from == none:
		return defaultPath(getenv), false, nil
	case path == "":
		return "", false, l.invalidAt("config", from, errors.New("names no file"))
	}
	return path, true, nil
}

// merge puts what the places give into Viper, which decides.
//
// The variables go in as configuration that overrides the context's: Viper's
// own reading of them knows only the environment of the process. The names of
// contexts stay outside, since Viper's keys have no case.
func (l *loader) merge(flags *pflag.FlagSet) error {
	for _, s := range All() {
		l.viper.SetDefault(s.Name, s.Default)
		if _, ok := l.given[flagLevel][s.Name]; !ok {
			continue
		}
		if err := l.viper.BindPFlag(s.Name, flags.Lookup(s.Name)); err != nil {
			return err
		}
	}
	for _, level := range []level{contextLevel, environmentLevel} {
		values := map[string]any{}
		for name, value := range l.given[level] {
			values[name] = value
		}
		if err := l.viper.MergeConfigMap(values); err != nil {
			return err
		}
	}
	for level := sideContextLevel; level <= topLevel; level++ {
		for name, value := range l.given[level] {
			l.viper.Set(name, value)
		}
	}
	return nil
}

// text returns the value of a setting as it was written.
func (l *loader) text(name string) string { return l.viper.GetString(name) }

// level returns the place a setting's value comes from, none for the default.
func (l *loader) level(name string) level {
	_, level := l.first(name)
	return level
}

// first returns the value of the highest place that gives one.
func (l *loader) first(name string) (string, level) {
	for level := topLevel; level > none; level-- {
		if value, ok := l.given[level][name]; ok {
			return value, level
		}
	}
	return "", none
}

// validate checks all that a place gives.
func (l *loader) validate(from level) error {
	for _, s := range All() {
		value, ok := l.given[from][s.Name]
		if !ok {
			continue
		}
		if err := s.validate(value); err != nil {
			return l.invalidAt(s.Name, from, err)
		}
	}
	return nil
}

// source names the place of a setting at a level.
func (l *loader) source(name string, at level) string {
	switch at {
	case sideLevel:
		return "--" + l.side + "-" + name
	case flagLevel:
		return "--" + name
	case environmentLevel:
		if name == "color" && l.noColor {
			return "NO_COLOR"
		}
		return Setting{Name: name}.Variable()
	case contextLevel, sideContextLevel:
		return fmt.Sprintf("%s: contexts[%s].%s", l.file.path, l.context, name)
	default:
		return "default"
	}
}

// path returns a file named by a setting. In the config file it is relative to
// the file's directory, so that it does not depend on where one stands.
func (l *loader) path(name string) string {
	path := l.text(name)
	if at := l.level(name); path != "" && (at == contextLevel || at == sideContextLevel) && !filepath.IsAbs(path) {
		return filepath.Join(filepath.Dir(l.file.path), path)
	}
	return path
}

func (l *loader) invalid(name string, err error) error {
	return l.invalidAt(name, l.level(name), err)
}

func (l *loader) invalidAt(name string, at level, err error) error {
	return invalid(l.source(name, at), err)
}

// contradiction is the error of two settings of a place that exclude each other.
func (l *loader) contradiction(one, other string, at level) error {
	return l.invalidAt(one, at, fmt.Errorf("contradicts %s", l.source(other, at)))
}

// invalid is an error about the value that stands at a place.
func invalid(where string, err error) error {
	return storeerr.New(storeerr.Invalid, "%s: %w", keyformat.Printable(where), err)
}
