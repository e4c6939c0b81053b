// The settings of one run, as the commands see them.

package config

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/keyspacectl/keyspacectl/internal/duration"
	"github.com/keyspacectl/keyspacectl/internal/redisconn"
	"github.com/keyspacectl/keyspacectl/internal/render"
)

// Settings are the values of the global settings.
type Settings struct {
	Target    redisconn.Target // the server, and the credentials that belong to it, but for those that Connection gets
	Timeout   time.Duration    // above zero
	Prefix    string
	HasPrefix bool // a prefix was given, be it an empty one
	KeyFormat string
	Output    render.Format    // or empty: by where the output goes
	Columns   []string         // or nil: those of the result
	Headers   *bool            // or nil: as the format has it
	Time      render.TimeStyle // or empty: as the format has it
	Color     string           // auto, always or never
	Quiet     bool
	Verbose   bool
	ReadOnly  bool // the context allows no command that writes

	File    string // the config file, which need not exist, or empty
	Context string // the context in use, or empty
	// Unused says which credentials were left out, because the address comes
	// from a place of its own, or is empty: a hint for when the server asks for some.
	Unused string

	passwordCommand string // prints the password, or empty
	sources         map[string]string
	values          []Value
}

// Connection returns how to reach the server, whoever wants to. It runs the
// password command if there is one; the errors are storeerr.Invalid.
func (s *Settings) Connection(ctx context.Context) (redisconn.Options, error) {
	o := redisconn.Options{Target: s.Target, Timeout: s.Timeout}
	if s.passwordCommand == "" || s.Target.Embedded != "" {
		return o, nil
	}
	var err error
	o.Target.Password, err = s.runCommand(ctx)
	return o, err
}

// Source says where the value of a setting comes from: "--timeout",
// "KEYSPACECTL_TIMEOUT", "/path/config.yaml: contexts[prod].timeout" or "default".
func (s *Settings) Source(name string) string {
	if source, ok := s.sources[name]; ok {
		return source
	}
	return "default"
}

// settings gives the values their types.
func (l *loader) settings() (*Settings, error) {
	target, err := l.target()
	if err != nil {
		return nil, err
	}
	headers, err := l.headers()
	if err != nil {
		return nil, err
	}
	// The default is valid and so is every value that a place gave.
	timeout, err := duration.Parse(l.text("timeout"))
	if err != nil {
		return nil, l.invalid("timeout", err)
	}
	s := &Settings{
		Target:    target,
		Timeout:   timeout,
		Prefix:    l.text("prefix"),
		HasPrefix: l.level("prefix") != none,
		KeyFormat: l.text("key-format"),
		Output:    render.Format(l.text("output")),
		Headers:   headers,
		Time:      render.TimeStyle(l.text("time")),
		Color:     l.text("color"),
		Quiet:     l.isTrue("quiet"),
		Verbose:   l.isTrue("verbose"),
		ReadOnly:  l.isTrue("read-only"),
		File:      l.file.path,
		Context:   l.context,
		Unused:    l.unused,

		passwordCommand: l.passwordCommand,
		sources:         map[string]string{},
	}
	if l.level("columns") != none {
		s.Columns = splitList(l.text("columns"))
	}
	for _, setting := range All() {
		if level := l.level(setting.Name); level != none {
			s.sources[setting.Name] = l.source(setting.Name, level)
		}
	}
	s.values = l.values(s)
	return s, nil
}

// values lists what is in effect.
func (l *loader) values(s *Settings) []Value {
	derived := map[string]string{"config": s.File, "context": s.Context}
	if l.level("context") == none && s.Context != "" {
		s.sources["context"] = s.File + ": current-context"
	}
	var values []Value
	for _, setting := range All() {
		value, source := l.text(setting.Name), s.Source(setting.Name)
		switch {
		case l.outdone(setting.Name):
			continue
		case derived[setting.Name] != "":
			value = derived[setting.Name]
		case setting.Name == "url" && l.addressLevel() == none:
			value = redisconn.Default
		case setting.Name == "password" && source == "default" && l.redisAuth != "" && s.Target.Password == l.redisAuth:
			value, source = l.redisAuth, "REDISCLI_AUTH"
		}
		if value != "" || source != "default" {
			values = append(values, Value{setting.Name, setting.masked(value), source})
		}
	}
	return values
}

// outdone reports whether a setting does nothing beside another one that says
// the same from a higher place.
func (l *loader) outdone(name string) bool {
	for _, group := range [][]string{
		{"url", "addr"}, {"password", "password-file", "password-command"},
		{"sentinel-password", "sentinel-password-file"}, {"headers", "no-headers"},
	} {
		for _, other := range group {
			if slices.Contains(group, name) && l.level(other) > l.level(name) && l.level(name) != none {
				return true
			}
		}
	}
	return false
}

// headers joins the settings headers and no-headers, of which the one from the
// higher place counts.
func (l *loader) headers() (*bool, error) {
	yes, no := l.level("headers"), l.level("no-headers")
	switch {
	case yes == none && no == none:
		return nil, nil
	case yes == no && l.isTrue("headers") == l.isTrue("no-headers"):
		return nil, l.contradiction("headers", "no-headers", yes)
	case yes >= no:
		return new(l.isTrue("headers")), nil
	default:
		return new(!l.isTrue("no-headers")), nil
	}
}

// isTrue returns a boolean setting, which is false by default.
func (l *loader) isTrue(name string) bool {
	value, err := strconv.ParseBool(l.text(name))
	return err == nil && value
}
