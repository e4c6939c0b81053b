// Tests that what is wrong is refused and that its place is named.
package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/keyspacectl/keyspacectl/internal/config"
)

func TestBadFile(t *testing.T) {
	t.Parallel()
	inContext := func(line string) string {
		return "contexts:\n- name: other\n- name: prod\n  " + line + "\n"
	}
	for file, want := range map[string]string{
		inContext("timeout: abc"):           `: contexts[prod].timeout: "abc" is no length of time; write whole numbers with units, as 30s or 1h30m (line 4)`,
		inContext("timeout: 30"):            `: contexts[prod].timeout: "30" has no unit`,
		inContext("timeout: 0s"):            `: contexts[prod].timeout: "0s" is zero`,
		inContext("timeout: [1s]"):          `: contexts[prod].timeout: is a list and has to be a length of time`,
		inContext("timeout:"):               `: contexts[prod].timeout: is empty`,
		inContext("tiemout: 1s"):            `: contexts[prod].tiemout: unknown key (known: name, url, addr, `,
		inContext("Timeout: 1s"):            `: contexts[prod].Timeout: unknown key`,
		inContext("yes: true"):              `: contexts[prod].yes: unknown key`,
		inContext("dry-run: true"):          `: contexts[prod].dry-run: unknown key`,
		inContext("force: true"):            `: contexts[prod].force: unknown key`,
		inContext("config: x"):              `: contexts[prod].config: unknown key`,
		inContext("context: x"):             `: contexts[prod].context: unknown key`,
		inContext("password: x"):            `: contexts[prod].password: a password does not stand in the config file`,
		inContext("db: '1'"):                `: contexts[prod].db: is a text and has to be a whole number`,
		inContext("db: 1.5"):                `: contexts[prod].db: is a number and has to be a whole number`,
		inContext("db: -1"):                 `: contexts[prod].db: "-1" is no number from 0`,
		inContext("prefix: 12"):             `: contexts[prod].prefix: is a number and has to be a text; put it in quotes`,
		inContext("prefix: true"):           `: contexts[prod].prefix: is true or false and has to be a text; put it in quotes`,
		inContext("read-only: yes"):         `: contexts[prod].read-only: is a text and has to be true or false`,
		inContext("output: xml"):            `: contexts[prod].output: "xml" is none of table, tsv, json, ndjson, yaml, raw`,
		inContext("key-format: Hex"):        `: contexts[prod].key-format: "Hex" is none of literal, escaped, hex, base64`,
		inContext("addr: redis://h"):        `: contexts[prod].addr: is no host:port`,
		inContext("addr: [a, 'b:x']"):       `: contexts[prod].addr: names no valid host:port`,
		inContext("columns: []"):            `: contexts[prod].columns: is an empty list`,
		inContext("columns: 'a,,b'"):        `: contexts[prod].columns: has an empty item`,
		inContext("url: http://h"):          `: contexts[prod].url: has an unknown scheme`,
		inContext("db: 1\n  db: 2"):         `the key "db" is given twice`,
		inContext("name: again"):            `the key "name" is given twice`,
		inContext("db: 1\n- name: prod"):    `: contexts: the name "prod" is given to two contexts`,
		inContext("db: 1\n- db: 2"):         `: contexts: entry 3 has no name`,
		"contexts: [{name: ''}]":            `: contexts: entry 1 has no name`,
		"contexts: [{name: 7}]":             `: contexts[7].name: is a number and has to be a text`,
		"contexts: [{name: [a]}]":           `: contexts: entry 1 has no name`,
		"contexts: [prod]":                  `is a text and has to be keys with values`,
		"contexts: {prod: {db: 1}}":         `: contexts: is keys with values and has to be a list`,
		"contexts: [{name: a, [b]: c}]":     `a key has to be a text`,
		"context: []":                       `: context: unknown key (known: contexts, current-context)`,
		"timeout: 5s":                       `: timeout: unknown key`,
		"current-context: 1":                `: current-context: is a number`,
		"current-context: gone":             `: current-context: there is no context "gone" (HOME has none)`,
		"- a":                               `is a list and has to be keys with values (line 1)`,
		"a":                                 `is a text and has to be keys with values (line 1)`,
		"contexts: []\n---\ncontexts: []\n": `holds more than one YAML document`,
		"contexts:\n- name: a\n db: 1\n":    `is no YAML: line `,
		"contexts: [{name: a, db: *x}]":     `is no YAML: unknown anchor`,
		"\"current-con\\ntext\": x":         `: current-con\ntext: unknown key`,
	} {
		// What stands elsewhere, and wins, excuses nothing.
		_, path, err := load(t, run{file: file, args: []string{"--timeout=1s", "--db=1", "--url=redis://h"}})
		if err == nil || !strings.HasPrefix(err.Error(), path+": ") {
			t.Errorf("%q: %v; want an error that names %s", file, err, path)
		}
		checkInvalid(t, err, strings.ReplaceAll(want, "HOME", path))
	}
}

func TestAliases(t *testing.T) {
	t.Parallel()
	s, _ := mustLoad(t, run{file: "current-context: b\ncontexts:\n- {name: a, columns: &c [x, y], db: &d 3}\n- {name: b, columns: *c, db: *d}\n"})
	if strings.Join(s.Columns, " ") != "x y" || s.Target.DB == nil || *s.Target.DB != 3 {
		t.Errorf("columns %v, database %v", s.Columns, s.Target.DB)
	}
}

func TestBadVariables(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]string{
		"KEYSPACECTL_TIMEOUT=abc":      `KEYSPACECTL_TIMEOUT: "abc" is no length of time`,
		"KEYSPACECTL_DB=x":             `KEYSPACECTL_DB: "x" is no number`,
		"KEYSPACECTL_VERBOSE=maybe":    `KEYSPACECTL_VERBOSE: "maybe" is neither true nor false`,
		"KEYSPACECTL_OUTPUT=xml":       `KEYSPACECTL_OUTPUT: "xml" is none of`,
		"KEYSPACECTL_KEY_FORMAT=x":     `KEYSPACECTL_KEY_FORMAT: "x" is none of`,
		"KEYSPACECTL_ADDR=h:0":         `KEYSPACECTL_ADDR: names a port`,
		"KEYSPACECTL_URL=redis://:s3c": `KEYSPACECTL_URL: names no valid host:port`,
		"KEYSPACECTL_CONTEXT=gone":     `KEYSPACECTL_CONTEXT: there is no context "gone" (known: a, B)`,
	} {
		name, value, _ := strings.Cut(variable, "=")
		_, _, err := load(t, run{file: "contexts: [{name: a}, {name: B}]", env: map[string]string{name: value}, args: []string{"--timeout=1s", "--db=1", "-o", "json"}})
		checkInvalid(t, err, want)
		if err != nil && strings.Contains(err.Error(), "s3c") {
			t.Errorf("the error tells the password: %v", err)
		}
	}
}

func TestBadFlags(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]string{
		"--timeout=30":     `"--timeout" flag: "30" has no unit`,
		"--timeout=-5s":    `"--timeout" flag: "-5s" is negative`,
		"--db=x":           `"--db" flag: "x" is no number`,
		"--db=-1":          `"--db" flag: "-1" is no number`,
		"--output=xml":     `"-o, --output" flag: "xml" is none of`,
		"--quiet=maybe":    `"-q, --quiet" flag: "maybe" is neither`,
		"--addr=":          `"--addr" flag: has an empty item`,
		"--read-only":      `unknown flag`,
		"--password=x":     `unknown flag`,
		"--yes":            `unknown flag`,
		"--url=redis://:s": `--url: names no valid host:port`,
		"--context=gone":   `--context: there is no context "gone" (HOME has none)`,
		"--addr=a,b":       `--addr: names 2 servers`,
	} {
		_, path, err := load(t, run{args: []string{arg}})
		if err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(want, "HOME", path)) {
			t.Errorf("%s: %v; want %q", arg, err, want)
		}
	}
}

// Help names every flag, and only read-only, the password and what confirms
// have none.
func TestFlagsAndTableAgree(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	config.RegisterFlags(flags)
	var without []string
	for _, s := range config.All() {
		if flags.Lookup(s.Name) == nil {
			without = append(without, s.Name)
		} else if !strings.Contains(flags.FlagUsages(), "--"+s.Name) || s.Usage == "" {
			t.Errorf("help lacks --%s", s.Name)
		}
	}
	if !slices.Equal(without, []string{"password", "sentinel-password", "read-only"}) {
		t.Errorf("no flag for %v", without)
	}
}
