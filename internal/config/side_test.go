package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/keyspacectl/keyspacectl/internal/config"
)

// loadSides loads the two sides of a run.
func loadSides(t *testing.T, r run) (left, right *config.Settings, err error) {
	t.Helper()
	home := t.TempDir()
	write(t, filepath.Join(home, ".config", "keyspacectl", "config.yaml"), r.file)
	flags := pflag.NewFlagSet("keyspacectl", pflag.ContinueOnError)
	config.RegisterFlags(flags)
	config.RegisterSide(flags, "left")
	config.RegisterSide(flags, "right")
	if err := flags.Parse(r.args); err != nil {
		return nil, nil, err
	}
	getenv := func(name string) string {
		if name == "HOME" {
			return home
		}
		return r.env[name]
	}
	if left, err = config.LoadSide(flags, getenv, "left"); err != nil {
		return nil, nil, err
	}
	right, err = config.LoadSide(flags, getenv, "right")
	return left, right, err
}

// place says in a line where settings lead, and whom they sign in as.
func place(s *config.Settings) string {
	line := s.Target.Addr + " " + s.Prefix
	if s.Target.Username != "" || s.Target.Password != "" {
		line += " " + s.Target.Username + ":" + s.Target.Password
	}
	if s.Target.TLS != nil {
		line += " tls"
	}
	if s.Target.Cluster {
		line += " cluster"
	}
	return line
}

func TestSides(t *testing.T) {
	t.Parallel()
	const file = `
current-context: dev
contexts:
- {name: dev, addr: dev, prefix: dev, username: dev}
- {name: prod, addr: prod, prefix: prod, username: prod, cluster: true, tls: true, timeout: 7s, read-only: true}
- {name: bare, prefix: bare, username: bare}
`
	for name, c := range map[string]struct {
		args        string
		env         map[string]string
		left, right string
	}{
		"nothing named":                    {"", nil, "dev:6379 dev dev:", "dev:6379 dev dev:"},
		"a prefix":                         {"--left-prefix a", nil, "dev:6379 a dev:", "dev:6379 dev dev:"},
		"a URL leaves credentials behind":  {"--left-url redis://l", nil, "l:6379 dev", "dev:6379 dev dev:"},
		"a URL with its own":               {"--left-url redis://u:p@l --right-url redis://r", nil, "l:6379 dev u:p", "r:6379 dev"},
		"a context":                        {"--right-context prod", nil, "dev:6379 dev dev:", "prod:6379 prod prod: tls cluster"},
		"a context, and a prefix":          {"--right-context prod --right-prefix x", nil, "dev:6379 dev dev:", "prod:6379 x prod: tls cluster"},
		"a context and another server":     {"--right-context prod --right-url redis://r", nil, "dev:6379 dev dev:", "r:6379 prod"},
		"no context":                       {"--right-context= --right-prefix x", nil, "dev:6379 dev dev:", "127.0.0.1:6379 x"},
		"a context above global flags":     {"--url redis://u:p@g --prefix g --right-context prod", nil, "g:6379 g u:p", "prod:6379 prod prod: tls cluster"},
		"a context above variables":        {"--right-context prod", map[string]string{"KEYSPACECTL_URL": "redis://e", "KEYSPACECTL_PASSWORD": "p", "REDISCLI_AUTH": "r", "KEYSPACECTL_PREFIX": "e"}, "e:6379 e :p", "prod:6379 prod prod: tls cluster"},
		"a URL above variables":            {"--right-url redis://r", map[string]string{"KEYSPACECTL_URL": "redis://e", "KEYSPACECTL_PASSWORD": "p", "KEYSPACECTL_PREFIX": "e"}, "e:6379 e :p", "r:6379 e"},
		"global credentials of an address": {"--url redis://g --username g --right-url redis://r", nil, "g:6379 dev g:", "r:6379 dev"},
		"global credentials of none":       {"--username g --left-url redis://l --right-context prod", nil, "l:6379 dev g:", "prod:6379 prod prod: tls cluster"},
		"a variable without an address":    {"--left-url redis://l", map[string]string{"KEYSPACECTL_PASSWORD": "p"}, "l:6379 dev :p", "dev:6379 dev dev:p"},
		"a context without an address":     {"--right-context bare", map[string]string{"KEYSPACECTL_URL": "redis://e", "KEYSPACECTL_PREFIX": "e"}, "e:6379 e", "e:6379 bare"},
		"a global context":                 {"--context prod --right-prefix r", nil, "prod:6379 prod prod: tls cluster", "prod:6379 r prod: tls cluster"},
		"an empty prefix":                  {"--right-context prod --right-prefix=", nil, "dev:6379 dev dev:", "prod:6379  prod: tls cluster"},
	} {
		left, right, err := loadSides(t, run{file: file, env: c.env, args: strings.Fields(c.args)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := place(left); got != c.left {
			t.Errorf("%s: the left side is %q, want %q", name, got, c.left)
		}
		if got := place(right); got != c.right {
			t.Errorf("%s: the right side is %q, want %q", name, got, c.right)
		}
	}

	left, right, err := loadSides(t, run{file: file, args: []string{"--right-context=prod", "--left-url=redis://l"}})
	if err != nil {
		t.Fatal(err)
	}
	if !right.ReadOnly || left.ReadOnly || right.Timeout.String() != "7s" || right.Context != "prod" {
		t.Errorf("the right side is %+v", right)
	}
	if !strings.HasPrefix(left.Unused, "unused, because --left-url names another server: ") || !strings.HasSuffix(left.Unused, "contexts[dev].username") {
		t.Errorf("unused: %q", left.Unused)
	}
	if source := right.Source("prefix"); !strings.HasSuffix(source, "config.yaml: contexts[prod].prefix") {
		t.Errorf("the prefix is from %q", source)
	}
	if source := left.Source("url"); source != "--left-url" {
		t.Errorf("the URL is from %q", source)
	}
	// What does not say where a side is has its usual place.
	_, right, err = loadSides(t, run{file: file, args: []string{"--right-context=prod", "--timeout=9s"}})
	if err != nil || right.Timeout.String() != "9s" {
		t.Errorf("a timeout of %v, %v", right.Timeout, err)
	}
}

func TestBadSides(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--left-url http://secret":            "--left-url: has an unknown scheme",
		"--right-context gone":                `--right-context: there is no context "gone"`,
		"--right-url redis://r/1 --url x://y": "--url: ",
	} {
		_, _, err := loadSides(t, run{args: strings.Fields(args)})
		checkInvalid(t, err, want)
	}
}
