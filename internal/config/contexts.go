// The config file as the commands see it that are about the file itself.

package config

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// mask stands in the place of a secret.
const mask = "***"

// Contexts is the config file, to be looked at and changed.
type Contexts struct {
	Path   string // of the file, which need not exist
	Chosen string // the context that a flag or a variable names, else the current one, or empty
	file   *file
}

// Path returns where the config file is, whether or not it exists and can be
// read. It is storeerr.Invalid when there is no home to look in and no file is
// named.
func Path(flags *pflag.FlagSet, getenv func(string) string) (string, error) {
	_, path, err := locate(flags, getenv)
	return path, err
}

// LoadContexts reads the config file that the flags or the environment name,
// or the one at the usual place. One that does not exist has no contexts; one
// that is broken is storeerr.Invalid.
func LoadContexts(flags *pflag.FlagSet, getenv func(string) string) (*Contexts, error) {
	l, path, err := locate(flags, getenv)
	if err != nil {
		return nil, err
	}
	c := &Contexts{Path: path}
	if c.file, err = readFile(path, false); err != nil {
		return nil, err
	}
	name, from := l.first("context")
	if c.Chosen = name; from == none {
		c.Chosen = c.file.current
	}
	return c, nil
}

func locate(flags *pflag.FlagSet, getenv func(string) string) (*loader, string, error) {
	l := newLoader()
	if err := l.readGiven(flags, getenv); err != nil {
		return nil, "", err
	}
	path, _, err := l.filePath(getenv)
	if err == nil && path == "" {
		err = storeerr.New(storeerr.Invalid, "there is no home directory to keep a config file in").WithHint("name a file with --config")
	}
	return l, path, err
}

// Names returns the names of the contexts in the order of the file.
func (c *Contexts) Names() []string {
	var names []string
	for _, context := range c.file.contexts {
		names = append(names, context.name)
	}
	return names
}

// Current returns the name of the current context, or nothing.
func (c *Contexts) Current() string { return c.file.current }

// Use makes a context the current one, and writes the file. It is
// storeerr.Invalid when there is none of that name.
func (c *Contexts) Use(name string) error { return c.file.use(name) }

// Set gives a setting of the chosen context a value, written as on a command
// line, and writes the file with mode 0600. The file and the context are made
// where there are none. What [Load] would refuse is storeerr.Invalid and
// changes nothing.
func (c *Contexts) Set(key, value string) error { return c.file.set(c.Chosen, key, value) }

// Unset takes a setting out of the chosen context, and writes the file. It is
// storeerr.NotFound when the context does not have it, and storeerr.Invalid,
// without a change, when [Load] would refuse what is left.
func (c *Contexts) Unset(key string) error { return c.file.unset(c.Chosen, key) }

// Value is a setting with its value, as a user would write it, and where that
// comes from. Secrets are masked.
type Value struct{ Name, Value, Source string }

// Values returns the settings of a context in the order of the table. It is
// storeerr.NotFound when there is none of that name.
func (c *Contexts) Values(name string) ([]Value, error) {
	context, ok := c.file.context(name)
	if !ok {
		return nil, storeerr.New(storeerr.NotFound, "there is no context %q%s", name, c.file.known())
	}
	var values []Value
	for _, s := range All() {
		if value, ok := context.values[s.Name]; ok {
			values = append(values, Value{s.Name, s.masked(value), fmt.Sprintf("%s: contexts[%s].%s", c.Path, name, s.Name)})
		}
	}
	return values, nil
}

// masked returns a value without the secrets in it.
func (s Setting) masked(value string) string {
	switch {
	case !s.secret:
		return value
	case s.Name != "url":
		return mask
	}
	scheme, rest, ok := strings.Cut(value, "://")
	at := strings.LastIndexByte(rest, '@')
	if !ok || at < 0 {
		return value
	}
	user, _, hasPassword := strings.Cut(rest[:at], ":")
	if !hasPassword || strings.EqualFold(scheme, "unix") && strings.HasPrefix(rest, "/") {
		return value
	}
	if plain, err := url.PathUnescape(user); err != nil || plain == "" {
		user = ""
	}
	return scheme + "://" + user + ":" + mask + rest[at:]
}

// Values returns the settings in effect that have a value, in the order of the
// table. Those that another one of a higher place makes useless are left out.
func (s *Settings) Values() []Value { return s.values }
