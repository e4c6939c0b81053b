// Tests of where values come from.
package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/keyspacectl/keyspacectl/internal/config"
	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// run is one start of the program.
type run struct {
	args []string
	env  map[string]string
	file string // the config file's text, or empty for no file
}

// load writes the config file into a home of its own and loads the settings.
// HOME in a result or an error stands for that home.
func load(t *testing.T, r run) (*config.Settings, string, error) {
	t.Helper()
	home := t.TempDir()
	path := filepath.Join(home, ".config", "keyspacectl", "config.yaml")
	if r.file != "" {
		write(t, path, r.file)
	}
	flags := pflag.NewFlagSet("keyspacectl", pflag.ContinueOnError)
	config.RegisterFlags(flags)
	if err := flags.Parse(r.args); err != nil {
		return nil, path, err
	}
	settings, err := config.Load(flags, func(name string) string {
		if name == "HOME" {
			return home
		}
		return r.env[name]
	})
	return settings, path, err
}

// mustLoad is load for settings that are right.
func mustLoad(t *testing.T, r run) (*config.Settings, string) {
	t.Helper()
	s, path, err := load(t, r)
	if err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	return s, path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPrecedence lets each place win in turn, also for options with hyphens,
// and also where a flag says what the default says.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	context := `
current-context: it
contexts:
- name: it
  timeout: 1m
  key-format: hex
  output: json
  prefix: from-context
  db: 1
  columns: [key, size]
  verbose: true
`
	env := map[string]string{
		"KEYSPACECTL_TIMEOUT": "2h", "KEYSPACECTL_KEY_FORMAT": "base64", "KEYSPACECTL_OUTPUT": "yaml",
		"KEYSPACECTL_PREFIX": "from-env", "KEYSPACECTL_DB": "2", "KEYSPACECTL_COLUMNS": "version", "KEYSPACECTL_VERBOSE": "0",
	}
	args := []string{"--timeout=5s", "--key-format", "literal", "-o", "table", "--prefix", "", "--db=0", "--columns=a,b", "--columns=c", "-v"}
	type values struct {
		timeout          time.Duration
		keyFormat, pfx   string
		hasPrefix        bool
		output           render.Format
		db               *int
		columns          []string
		verbose          bool
		source1, source2 string
	}
	for name, c := range map[string]struct {
		run  run
		want values
	}{
		"default":     {run{}, values{timeout: 5 * time.Second, keyFormat: "literal", source1: "default", source2: "default"}},
		"context":     {run{file: context}, values{time.Minute, "hex", "from-context", true, render.JSON, new(1), []string{"key", "size"}, true, "HOME: contexts[it].timeout", "HOME: contexts[it].key-format"}},
		"environment": {run{file: context, env: env}, values{2 * time.Hour, "base64", "from-env", true, render.YAML, new(2), []string{"version"}, false, "KEYSPACECTL_TIMEOUT", "KEYSPACECTL_KEY_FORMAT"}},
		"flag":        {run{file: context, env: env, args: args}, values{5 * time.Second, "literal", "", true, render.Table, new(0), []string{"a", "b", "c"}, true, "--timeout", "--key-format"}},
		"flag alone":  {run{args: args}, values{5 * time.Second, "literal", "", true, render.Table, new(0), []string{"a", "b", "c"}, true, "--timeout", "--key-format"}},
		"empty variables": {run{file: context, env: map[string]string{"KEYSPACECTL_TIMEOUT": "", "KEYSPACECTL_PREFIX": ""}},
			values{time.Minute, "hex", "from-context", true, render.JSON, new(1), []string{"key", "size"}, true, "HOME: contexts[it].timeout", "HOME: contexts[it].key-format"}},
	} {
		s, path := mustLoad(t, c.run)
		got := values{s.Timeout, s.KeyFormat, s.Prefix, s.HasPrefix, s.Output, s.Target.DB, s.Columns, s.Verbose,
			strings.Replace(s.Source("timeout"), path, "HOME", 1), strings.Replace(s.Source("key-format"), path, "HOME", 1)}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v\nwant %+v", name, got, c.want)
		}
	}
}

func TestContexts(t *testing.T) {
	t.Parallel()
	file := `
current-context: prod
contexts:
- {name: prod, addr: "prod.example:1", read-only: true}
- {name: Prod, url: "rediss://other.example"}
- {name: empty}
`
	for _, c := range []struct {
		run      run
		context  string
		addr     string
		readOnly bool
	}{
		{run{file: file}, "prod", "prod.example:1", true},
		{run{file: file, args: []string{"--context", "Prod"}}, "Prod", "other.example:6379", false},
		{run{file: file, args: []string{"--context", "empty"}}, "empty", "127.0.0.1:6379", false},
		{run{file: file, args: []string{"--context", ""}}, "", "127.0.0.1:6379", false},
		{run{file: file, env: map[string]string{"KEYSPACECTL_CONTEXT": "Prod"}}, "Prod", "other.example:6379", false},
		{run{file: file, env: map[string]string{"KEYSPACECTL_CONTEXT": "Prod"}, args: []string{"--context=prod"}}, "prod", "prod.example:1", true},
		{run{file: file, args: []string{"--addr=h:2"}}, "prod", "h:2", true},
		{run{file: "contexts:\n- name: a\n  addr: h\n"}, "", "127.0.0.1:6379", false},
		{run{file: "# nothing\n"}, "", "127.0.0.1:6379", false},
		{run{file: "contexts:\n"}, "", "127.0.0.1:6379", false},
		{run{}, "", "127.0.0.1:6379", false},
	} {
		s, path := mustLoad(t, c.run)
		if s.Context != c.context || s.Target.Addr != c.addr || s.ReadOnly != c.readOnly || s.File != path {
			t.Errorf("%+v: context %q, address %q, read-only %v, file %q", c.run, s.Context, s.Target.Addr, s.ReadOnly, s.File)
		}
	}
}

func TestFilePlaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	named, xdg := filepath.Join(dir, "named.yaml"), filepath.Join(dir, "keyspacectl", "config.yaml")
	write(t, named, "current-context: a\ncontexts: [{name: a, prefix: named}]\n")
	write(t, xdg, "current-context: a\ncontexts: [{name: a, prefix: xdg}]\n")
	home := "current-context: a\ncontexts: [{name: a, prefix: home}]\n"
	for _, c := range []struct {
		run  run
		want string
	}{
		{run{file: home}, "home"},
		{run{file: home, env: map[string]string{"XDG_CONFIG_HOME": "relative"}}, "home"},
		{run{file: home, env: map[string]string{"XDG_CONFIG_HOME": dir}}, "xdg"},
		{run{file: home, env: map[string]string{"XDG_CONFIG_HOME": dir, "KEYSPACECTL_CONFIG": named}}, "named"},
		{run{file: home, env: map[string]string{"KEYSPACECTL_CONFIG": xdg}, args: []string{"--config", named}}, "named"},
	} {
		if s, _ := mustLoad(t, c.run); s.Prefix != c.want {
			t.Errorf("%+v: read the file %q", c.run, s.Prefix)
		}
	}
	for _, r := range []run{{args: []string{"--config", dir + "/none"}}, {env: map[string]string{"KEYSPACECTL_CONFIG": dir + "/none"}}} {
		_, _, err := load(t, r)
		checkInvalid(t, err, dir+"/none: no such file")
	}
	_, _, err := load(t, run{args: []string{"--config", dir}})
	checkInvalid(t, err, "is a directory")
	_, _, err = load(t, run{args: []string{"--config="}})
	checkInvalid(t, err, "--config: names no file")
}

func TestHeadersAndColor(t *testing.T) {
	t.Parallel()
	file := "current-context: a\ncontexts: [{name: a, headers: true, color: always}]\n"
	for _, c := range []struct {
		run     run
		headers *bool
		color   string
	}{
		{run{}, nil, "auto"},
		{run{file: file}, new(true), "always"},
		{run{file: file, args: []string{"--no-headers", "--color=auto"}}, new(false), "auto"},
		{run{file: file, args: []string{"--headers=false"}}, new(false), "always"},
		{run{args: []string{"--no-headers=false"}}, new(true), "auto"},
		{run{args: []string{"--headers=false", "--no-headers"}}, new(false), "auto"},
		{run{file: file, env: map[string]string{"NO_COLOR": "1", "KEYSPACECTL_NO_HEADERS": "true"}}, new(false), "never"},
		{run{file: file, env: map[string]string{"NO_COLOR": "1", "KEYSPACECTL_COLOR": "auto"}}, new(true), "auto"},
		{run{env: map[string]string{"NO_COLOR": "1"}, args: []string{"--color", "always"}}, nil, "always"},
	} {
		if s, _ := mustLoad(t, c.run); !reflect.DeepEqual(s.Headers, c.headers) || s.Color != c.color {
			t.Errorf("%+v: headers %v, color %q", c.run, s.Headers, s.Color)
		}
	}
	_, _, err := load(t, run{args: []string{"--headers", "--no-headers"}})
	checkInvalid(t, err, "--headers: contradicts --no-headers")
}

// checkInvalid checks that err is a usage error in one line that says want.
func checkInvalid(t *testing.T, err error, want string) {
	t.Helper()
	if !errors.Is(err, storeerr.Invalid) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v; want an invalid setting with %q", err, want)
	}
}
