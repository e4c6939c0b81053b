// Tests of the config file as it is looked at and changed.
package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/keyspacectl/keyspacectl/internal/config"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// contexts reads a config file whose text is given, or none.
func contexts(t *testing.T, text, chosen string) (*config.Contexts, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "new", "config.yaml")
	if text != "" {
		write(t, path, text)
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	config.RegisterFlags(flags)
	args := []string{"--config", path}
	if chosen != "" {
		args = append(args, "--context", chosen)
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return config.LoadContexts(flags, func(string) string { return "" })
}

const commented = `# who may change this: operators
current-context: prod # the usual one
# the contexts
contexts:
- name: prod
  # how long to wait
  timeout: 10s # not longer
  addr: h:1
- name: Prod
`

func TestSet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, context, key, value, want string }{
		"no file":        {"", "a", "prefix", "p:", "contexts:\n- name: a\n  prefix: 'p:'\n"},
		"a value":        {commented, "", "timeout", "20s", strings.Replace(commented, "10s", "20s", 1)},
		"a new key":      {commented, "", "db", "3", strings.Replace(commented, "h:1\n", "h:1\n  db: 3\n", 1)},
		"the other case": {commented, "Prod", "read-only", "1", commented + "  read-only: true\n"},
		"a new context":  {commented, "new", "prefix", "12", commented + "- name: new\n  prefix: \"12\"\n"},
		"a list":         {commented, "Prod", "columns", "key,size", commented + "  columns: [key, size]\n"},
		"an empty text":  {commented, "Prod", "prefix", "", commented + "  prefix: \"\"\n"},
		"only comments":  {"# mine\n", "a", "db", "007", "# mine\n\ncontexts:\n- name: a\n  db: 7\n"},
		"an empty list":  {"contexts:\n", "a", "db", "0", "contexts:\n- name: a\n  db: 0\n"},
		"a later file":   {"contexts: [{name: a}]\n", "a", "password-file", "none", "contexts: [{name: a, password-file: none}]\n"},
		"list to one":    {"contexts:\n- name: a\n  columns: [x, y]\n", "a", "columns", "z", "contexts:\n- name: a\n  columns: z\n"},
	} {
		file, err := contexts(t, c.text, c.context)
		if err != nil {
			t.Fatal(err)
		}
		if err := file.Set(c.key, c.value); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := os.ReadFile(file.Path)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v, the file is\n%s\nwant\n%s", name, err, got, c.want)
		}
		if info, err := os.Stat(file.Path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
	}
}

func TestSetRefuses(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct{ text, context, key, value string }{
		`contexts[prod].timeout: "abc" is no length of time`:             {commented, "", "timeout", "abc"},
		`contexts[prod].tiemout: unknown key (known: url, `:              {commented, "", "tiemout", "1s"},
		`contexts[prod].yes: unknown key`:                                {commented, "", "yes", "true"},
		`contexts[prod].password: a password does not stand in the`:      {commented, "", "password", "s3cret"},
		`contexts[prod].url: has a user name or password that is not pe`: {commented, "", "url", "redis://:s3@cret@h"},
		`contexts[prod].url: contradicts`:                                {commented, "", "url", "redis://h"},
		`contexts[prod].tls-cert: means nothing without TLS`:             {commented, "", "tls-cert", "f"},
		`contexts[prod].sentinel-username: means nothing without --sent`: {commented, "", "sentinel-username", "s"},
		`contexts[prod].db: "x" is no number from 0`:                     {commented, "", "db", "x"},
		`no context is named`:                                            {"", "", "db", "1"},
		`contexts[a].db: has the anchor &d`:                              {"contexts:\n- {name: a, db: &d 1}\n- {name: b, db: *d}\n", "a", "db", "2"},
	} {
		file, err := contexts(t, c.text, c.context)
		if err != nil {
			t.Fatal(err)
		}
		err = file.Set(c.key, c.value)
		checkInvalid(t, err, want)
		if err != nil && (strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "cret@")) {
			t.Errorf("the error tells the secret: %v", err)
		}
		if got, _ := os.ReadFile(file.Path); string(got) != c.text {
			t.Errorf("%s %s: the file has become\n%s", c.key, c.value, got)
		}
	}
}

func TestUse(t *testing.T) {
	t.Parallel()
	file, err := contexts(t, commented, "")
	if err != nil {
		t.Fatal(err)
	}
	checkInvalid(t, file.Use("PROD"), `current-context: there is no context "PROD" (known: prod, Prod)`)
	if err := file.Use("Prod"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file.Path)
	if want := strings.Replace(commented, "current-context: prod", "current-context: Prod", 1); err != nil || string(got) != want {
		t.Errorf("%v, the file is\n%s", err, got)
	}
}

// The file behind a link is changed, and the link stays.
func TestSetBehindALink(t *testing.T) {
	t.Parallel()
	file, err := contexts(t, commented, "")
	if err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(t.TempDir(), "dotfile")
	if err := os.Rename(file.Path, target); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, file.Path); err != nil {
		t.Fatal(err)
	}
	if err := file.Set("db", "3"); err != nil {
		t.Fatal(err)
	}
	if link, err := os.Readlink(file.Path); link != target || err != nil {
		t.Errorf("the link leads to %q, %v", link, err)
	}
	if got, _ := os.ReadFile(target); !strings.Contains(string(got), "db: 3") {
		t.Errorf("the file is\n%s", got)
	}
}

// What is no file, as the /dev/null of a sandbox, is not said to be written.
func TestSetNoFile(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	config.RegisterFlags(flags)
	if err := flags.Parse([]string{"--config", os.DevNull, "--context", "c"}); err != nil {
		t.Fatal(err)
	}
	file, err := config.LoadContexts(flags, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	checkInvalid(t, file.Set("db", "3"), os.DevNull+" is no file that could be changed")
}

func TestMasked(t *testing.T) {
	t.Parallel()
	file, err := contexts(t, `
contexts:
- {name: a, url: "redis://bob:s3cret@h:1/2", password-file: f, prefix: p}
- {name: b, url: "rediss://:s3%40cret@h"}
- {name: c, url: "unix:///run/a:b@c.sock"}
- {name: d, url: "redis://bob@h"}
`, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "redis://bob:***@h:1/2", "b": "rediss://:***@h", "c": "unix:///run/a:b@c.sock", "d": "redis://bob@h"} {
		values, err := file.Values(name)
		if err != nil || values[0] != (config.Value{Name: "url", Value: want, Source: file.Path + ": contexts[" + name + "].url"}) {
			t.Errorf("%s: %v, %v", name, values, err)
		}
	}
	if _, err := file.Values("A"); storeerr.KindOf(err) != storeerr.NotFound {
		t.Errorf("a context that is not there: %v", err)
	}
}

// What is in effect is listed with its place, and what is not is left out.
func TestEffective(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run  run
		want []string
	}{
		"nothing": {run{}, []string{"config=HOME default", "url=redis://127.0.0.1:6379 default", "timeout=5s default", "key-format=literal default", "color=auto default"}},
		"all places": {
			run{
				file: "current-context: c\ncontexts: [{name: c, url: 'redis://h', password-file: f, key-format: hex}]",
				env:  map[string]string{"KEYSPACECTL_PASSWORD": "s3cret", "KEYSPACECTL_PREFIX": "p"},
				args: []string{"--addr=g:1", "--timeout=5s"},
			},
			[]string{
				"config=HOME default", "context=c HOME: current-context", "addr=g:1 --addr", "password=*** KEYSPACECTL_PASSWORD",
				"timeout=5s --timeout", "prefix=p KEYSPACECTL_PREFIX", "key-format=hex HOME: contexts[c].key-format", "color=auto default",
			},
		},
		"shared variable": {
			run{env: map[string]string{"REDISCLI_AUTH": "s3cret", "NO_COLOR": "1"}, args: []string{"--url=redis://h"}},
			[]string{"config=HOME default", "url=redis://h --url", "password=*** REDISCLI_AUTH", "timeout=5s default", "key-format=literal default", "color=never NO_COLOR"},
		},
	} {
		s, path := mustLoad(t, c.run)
		var got []string
		for _, v := range s.Values() {
			got = append(got, strings.ReplaceAll(v.Name+"="+v.Value+" "+v.Source, path, "HOME"))
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %q\nwant %q", name, got, c.want)
		}
	}
}
