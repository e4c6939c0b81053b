// Package config knows the global settings: what they are called, what they may
// be, and where their values come from.
//
// A setting comes from its flag, else from its environment variable, else from
// the chosen context of the config file, else it has its default. A value that
// is bad anywhere is an error that names the place, even if another place
// overrides it. All errors are storeerr.Invalid.
package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/keyspacectl/keyspacectl/internal/duration"
	"github.com/keyspacectl/keyspacectl/internal/keyformat"
	"github.com/keyspacectl/keyspacectl/internal/redisconn"
	"github.com/keyspacectl/keyspacectl/internal/render"
)

// Setting is one global setting.
type Setting struct {
	Name      string   // in kebab-case: the flag's name and the key in a context
	Shorthand string   // the flag's letter, or empty
	Usage     string   // what it is for, with the value's name in backquotes
	Default   string   // as a user would write it
	Choices   []string // the values there are, where they are few

	kind   kind
	places place
	check  func(string) error // of a text, or of each item of a list
	secret bool               // may hold a password: only errors that never repeat it
	bound  bool               // belongs to the address that it stands beside
	server bool               // says, besides what is bound, which server it is or how to speak with it
	needs  string             // the setting without which it would do nothing, or empty
}

// kind is the form of a setting's values.
type kind int

const (
	text kind = iota
	boolean
	number
	length // of time
	list
)

// place is where a setting may stand.
type place int

const (
	inFlags place = 1 << iota
	inEnvironment
	inContext

	anywhere = inFlags | inEnvironment | inContext
)

// All returns the settings in the order in which help shows them. What writes
// data without asking (--yes, --dry-run, --force) is not among them: that is
// for a command line to say, and for no context.
func All() []Setting {
	return []Setting{
		{Name: "config", Usage: "read this config `FILE`", places: inFlags | inEnvironment},
		{Name: "context", Usage: "use the context `NAME` of the config file; an empty name is none", places: inFlags | inEnvironment},
		{Name: "url", Usage: "the server as a `URL`: redis://, rediss://, unix:// or embedded:FILE (default " + redisconn.Default + ")", places: anywhere, check: checkURL, secret: true, server: true},
		{Name: "addr", Usage: "the server as `HOST:PORT`; several for a cluster or Sentinels", kind: list, places: anywhere, check: checkAddr, server: true},
		{Name: "db", Usage: "the `NUMBER` of the database", kind: number, places: anywhere, server: true},
		{Name: "username", Usage: "sign in as the ACL user `NAME`", places: anywhere, bound: true},
		{Name: "password", Usage: "the password itself, taken literally", places: inEnvironment, secret: true, bound: true},
		{Name: "password-file", Usage: "read the password from the first line of `FILE`", places: anywhere, bound: true},
		{Name: "password-command", Usage: "take the password from the first line that `COMMAND` prints; no shell runs it", places: anywhere, check: checkCommand, bound: true},
		{Name: "tls", Usage: "speak TLS", kind: boolean, places: anywhere, server: true},
		{Name: "tls-ca-cert", Usage: "trust the authorities in `FILE` in place of the system's", places: anywhere, needs: "tls", server: true},
		{Name: "tls-cert", Usage: "show the client certificate in `FILE`", places: anywhere, bound: true, needs: "tls"},
		{Name: "tls-key", Usage: "the key of the client certificate, in `FILE`", places: anywhere, bound: true, needs: "tls"},
		{Name: "tls-server-name", Usage: "expect a certificate for `NAME` in place of the host", places: anywhere, bound: true, needs: "tls"},
		{Name: "tls-insecure-skip-verify", Usage: "take any certificate, be it an impostor's", kind: boolean, places: anywhere, bound: true, needs: "tls"},
		{Name: "cluster", Usage: "the server is a node of a Redis Cluster", kind: boolean, places: anywhere, bound: true},
		{Name: "sentinel-master", Usage: "the servers are Sentinels that know the primary as `NAME`", places: anywhere, bound: true},
		{Name: "sentinel-username", Usage: "sign in to the Sentinels as the ACL user `NAME`", places: anywhere, bound: true, needs: "sentinel-master"},
		{Name: "sentinel-password", Usage: "the Sentinels' password itself, taken literally", places: inEnvironment, secret: true, bound: true, needs: "sentinel-master"},
		{Name: "sentinel-password-file", Usage: "read the Sentinels' password from the first line of `FILE`", places: anywhere, bound: true, needs: "sentinel-master"},
		{Name: "timeout", Usage: "give up an operation after `DURATION`", Default: "5s", kind: length, places: anywhere},
		{Name: "prefix", Usage: "work under the key `PREFIX`", places: anywhere},
		{Name: "key-format", Usage: "read keys given as arguments in `FORMAT`: literal, escaped, hex or base64", Default: keyformat.Literal, places: anywhere, Choices: keyformat.Formats()},
		{Name: "output", Shorthand: "o", Usage: "write results in `FORMAT`: table, tsv, json, ndjson, yaml or raw (default table on a terminal, tsv or raw off one)", places: anywhere, Choices: words(render.Formats())},
		{Name: "columns", Usage: "show only `COLUMNS`, separated by commas", kind: list, places: anywhere},
		{Name: "headers", Usage: "show column headers", kind: boolean, places: anywhere},
		{Name: "no-headers", Usage: "show no column headers", kind: boolean, places: anywhere},
		{Name: "time", Usage: "show times in tables and tsv in `STYLE`: relative, rfc3339 or unix", places: anywhere, Choices: words(render.TimeStyles())},
		{Name: "color", Usage: "use color `WHEN`: auto, always or never", Default: "auto", places: anywhere, Choices: []string{"auto", "always", "never"}},
		{Name: "quiet", Shorthand: "q", Usage: "say nothing but results and errors", kind: boolean, places: anywhere},
		{Name: "verbose", Shorthand: "v", Usage: "show each Redis command and its time", kind: boolean, places: anywhere},
		{Name: "read-only", Usage: "refuse commands that write", kind: boolean, places: inContext},
	}
}

// Variable returns the name of the setting's environment variable.
func (s Setting) Variable() string {
	return "KEYSPACECTL_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

// lookup returns the setting of a name that may stand in a place.
func lookup(name string, in place) (Setting, bool) {
	for _, s := range All() {
		if s.Name == name && s.places&in != 0 {
			return s, true
		}
	}
	return Setting{}, false
}

// ContextKeys returns the names of the settings that a context may hold.
func ContextKeys() []string { return namesIn(inContext) }

// namesIn returns the names of the settings that may stand in a place.
func namesIn(in place) []string {
	var names []string
	for _, s := range All() {
		if s.places&in != 0 {
			names = append(names, s.Name)
		}
	}
	return names
}

// RegisterFlags adds a flag to flags for each setting that has one.
func RegisterFlags(flags *pflag.FlagSet) {
	for _, s := range All() {
		if s.places&inFlags == 0 {
			continue
		}
		flag := flags.VarPF(&flagValue{setting: s, text: s.Default}, s.Name, s.Shorthand, s.Usage)
		if s.kind == boolean {
			flag.NoOptDefVal = "true"
		}
	}
}

// validate says what is wrong with a value of the setting, without its place.
func (s Setting) validate(value string) error {
	switch s.kind {
	case boolean:
		if _, err := strconv.ParseBool(value); err != nil {
			return fmt.Errorf("%q is neither true nor false", value)
		}
	case number:
		if n, err := strconv.Atoi(value); err != nil || n < 0 {
			return fmt.Errorf("%q is no number from 0", value)
		}
	case length:
		if _, err := duration.Parse(value); err != nil {
			return err
		}
	case list:
		for _, item := range splitList(value) {
			if item == "" {
				return errors.New("has an empty item")
			}
			if s.check == nil {
				continue
			}
			if err := s.check(item); err != nil {
				return err
			}
		}
	case text:
		if len(s.Choices) > 0 && !slices.Contains(s.Choices, value) {
			return fmt.Errorf("%q is none of %s", value, strings.Join(s.Choices, ", "))
		}
		if s.check != nil {
			return s.check(value)
		}
	}
	return nil
}

func checkURL(raw string) error {
	_, err := redisconn.ParseURL(raw)
	return err
}

func checkAddr(addr string) error {
	_, err := redisconn.ParseAddr(addr)
	return err
}

func checkCommand(line string) error {
	_, err := splitCommand(line)
	return err
}

// splitList returns the items of a list as it stands in a flag or a variable.
func splitList(value string) []string { return strings.Split(value, ",") }

// words returns names as plain strings.
func words[T ~string](names []T) []string {
	plain := make([]string, len(names))
	for i, name := range names {
		plain[i] = string(name)
	}
	return plain
}
