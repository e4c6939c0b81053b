// Tests of which credentials go with which server.
package config_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/redisconn"
)

// awkward is a password that means something else in each part of a URL.
const awkward = "p@s/s:w#%3D+ &é"

func TestCredentials(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	write(t, secret, awkward+"\nsecond line\n")
	plain := filepath.Join(t.TempDir(), "plain")
	write(t, plain, "from-file\r\n")
	context := func(lines string) string {
		return "current-context: c\ncontexts:\n- {name: c, username: cu, password-file: " + plain + lines + "}\n"
	}
	type want struct {
		addr, user, password string
		db                   *int
		unused               string
	}
	env := func(pairs ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	for name, c := range map[string]struct {
		run  run
		want want
	}{
		"none":                          {run{}, want{addr: "127.0.0.1:6379"}},
		"variable, literally":           {run{env: env("KEYSPACECTL_PASSWORD", awkward)}, want{addr: "127.0.0.1:6379", password: awkward}},
		"file":                          {run{args: []string{"--password-file", secret}}, want{addr: "127.0.0.1:6379", password: awkward}},
		"file named by variable":        {run{env: env("KEYSPACECTL_PASSWORD_FILE", plain)}, want{addr: "127.0.0.1:6379", password: "from-file"}},
		"shared variable":               {run{env: env("REDISCLI_AUTH", awkward)}, want{addr: "127.0.0.1:6379", password: awkward}},
		"own variable first":            {run{env: env("REDISCLI_AUTH", "r", "KEYSPACECTL_PASSWORD", "k")}, want{addr: "127.0.0.1:6379", password: "k"}},
		"flag over variable":            {run{env: env("KEYSPACECTL_PASSWORD", "k"), args: []string{"--password-file", plain}}, want{addr: "127.0.0.1:6379", password: "from-file"}},
		"URL":                           {run{args: []string{"--url=redis://u:p%40@h/4"}}, want{addr: "h:6379", user: "u", password: "p@", db: new(4)}},
		"URL before shared variable":    {run{args: []string{"--url=redis://u:p@h"}, env: env("REDISCLI_AUTH", "r")}, want{addr: "h:6379", user: "u", password: "p"}},
		"URL before variable":           {run{args: []string{"--url=redis://u:p@h"}, env: env("KEYSPACECTL_PASSWORD", "k")}, want{addr: "h:6379", user: "u", password: "p"}},
		"URL without a password":        {run{args: []string{"--url=redis://u@h"}, env: env("KEYSPACECTL_PASSWORD", "k")}, want{addr: "h:6379", user: "u", password: "k"}},
		"flags over URL of variable":    {run{env: env("KEYSPACECTL_URL", "redis://u:p@h/4"), args: []string{"--username=f", "--password-file", plain, "--db=5"}}, want{addr: "h:6379", user: "f", password: "from-file", db: new(5)}},
		"URL over its context":          {run{file: "current-context: c\ncontexts: [{name: c, db: 7}]", args: []string{"--url=redis://h/4"}}, want{addr: "h:6379", db: new(4)}},
		"database of context":           {run{file: "current-context: c\ncontexts: [{name: c, db: 7}]", args: []string{"--url=redis://h"}}, want{addr: "h:6379", db: new(7)}},
		"the same twice":                {run{args: []string{"--url=redis://u@h/4", "--db=4", "--username=u"}}, want{addr: "h:6379", user: "u", db: new(4)}},
		"addr over URL of variable":     {run{env: env("KEYSPACECTL_URL", "redis://u:p@h/4"), args: []string{"--addr=g"}}, want{addr: "g:6379"}},
		"URL over addr of variable":     {run{env: env("KEYSPACECTL_ADDR", "g"), args: []string{"--url=redis://h"}}, want{addr: "h:6379"}},
		"context":                       {run{file: context(", addr: c")}, want{addr: "c:6379", user: "cu", password: "from-file"}},
		"context without address":       {run{file: context("")}, want{addr: "127.0.0.1:6379", user: "cu", password: "from-file"}},
		"context before shared":         {run{file: context(", addr: c"), env: env("REDISCLI_AUTH", "r")}, want{addr: "c:6379", user: "cu", password: "from-file"}},
		"variable over context":         {run{file: context(", addr: c"), env: env("KEYSPACECTL_PASSWORD", "k")}, want{addr: "c:6379", user: "cu", password: "k"}},
		"context's, other addr":         {run{file: context(", addr: c"), args: []string{"--addr=f"}}, want{addr: "f:6379", unused: "unused, because --addr names another server: HOME: contexts[c].username, HOME: contexts[c].password-file"}},
		"context's, other URL":          {run{file: context(", addr: c"), env: env("KEYSPACECTL_URL", "redis://e")}, want{addr: "e:6379", unused: "unused, because KEYSPACECTL_URL names another server: HOME: contexts[c].username, HOME: contexts[c].password-file"}},
		"context's, even to itself":     {run{file: context(", addr: c"), args: []string{"--addr=c"}}, want{addr: "c:6379", unused: "unused, because --addr names another server: HOME: contexts[c].username, HOME: contexts[c].password-file"}},
		"variables with a flag's addr":  {run{env: env("KEYSPACECTL_PASSWORD", "k", "KEYSPACECTL_USERNAME", "e"), args: []string{"--addr=f"}}, want{addr: "f:6379", user: "e", password: "k"}},
		"variables with their own addr": {run{env: env("KEYSPACECTL_PASSWORD", "k", "KEYSPACECTL_ADDR", "e", "REDISCLI_AUTH", "r"), args: []string{"--addr=f"}}, want{addr: "f:6379", unused: "unused, because --addr names another server: KEYSPACECTL_PASSWORD"}},
		"shared with a flag's addr":     {run{env: env("REDISCLI_AUTH", "r"), args: []string{"--addr=f", "--username=u"}}, want{addr: "f:6379", user: "u", password: "r"}},
		"flags with a variable's addr":  {run{env: env("KEYSPACECTL_ADDR", "e"), args: []string{"--username=f", "--password-file", plain}}, want{addr: "e:6379", user: "f", password: "from-file"}},
	} {
		s, path := mustLoad(t, c.run)
		got := want{s.Target.Addr, s.Target.Username, s.Target.Password, s.Target.DB, strings.ReplaceAll(s.Unused, path, "HOME")}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v\nwant %+v", name, got, c.want)
		}
	}
}

func TestContradictions(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]run{
		"--url: contradicts --addr":                                 {args: []string{"--url=redis://h", "--addr=h"}},
		"KEYSPACECTL_URL: contradicts KEYSPACECTL_ADDR":             {env: map[string]string{"KEYSPACECTL_URL": "redis://h", "KEYSPACECTL_ADDR": "h"}},
		"contexts[c].addr":                                          {file: "current-context: c\ncontexts: [{name: c, url: 'redis://h', addr: h}]"},
		"--db: contradicts --url":                                   {args: []string{"--url=redis://h/1", "--db=2"}},
		"--username: contradicts --url":                             {args: []string{"--url=redis://a@h", "--username=b"}},
		"--url: contradicts --password-file":                        {args: []string{"--url=redis://:p@h", "--password-file=f"}},
		"KEYSPACECTL_URL: contradicts KEYSPACECTL_PASSWORD":         {env: map[string]string{"KEYSPACECTL_URL": "redis://:p@h", "KEYSPACECTL_PASSWORD": "q"}},
		"KEYSPACECTL_PASSWORD: contradicts KEYSPACECTL_PASSWORD_FI": {env: map[string]string{"KEYSPACECTL_PASSWORD": "p", "KEYSPACECTL_PASSWORD_FILE": "q"}},
	} {
		_, _, err := load(t, r)
		checkInvalid(t, err, want)
	}
}

func TestPasswordFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/empty", "")
	write(t, dir+"/first-line-empty", "\npassword\n")
	write(t, dir+"/no-newline", "pw")
	for file, want := range map[string]string{
		"/none":             "--password-file: open " + dir + "/none: no such file",
		"/empty":            "first line of " + dir + "/empty is empty",
		"/first-line-empty": "is empty",
		"/.":                "is a directory",
	} {
		_, _, err := load(t, run{args: []string{"--password-file", dir + file}})
		checkInvalid(t, err, want)
	}
	if s, _ := mustLoad(t, run{args: []string{"--password-file", dir + "/no-newline"}}); s.Target.Password != "pw" {
		t.Errorf("read %q", s.Target.Password)
	}
	// In a config file it is relative to the file.
	write(t, dir+"/conf.yaml", "current-context: c\ncontexts: [{name: c, password-file: no-newline}]\n")
	if s, _ := mustLoad(t, run{args: []string{"--config", dir + "/conf.yaml"}}); s.Target.Password != "pw" {
		t.Errorf("read %q", s.Target.Password)
	}
	// One that is not used need not be there.
	write(t, dir+"/conf.yaml", "current-context: c\ncontexts: [{name: c, password-file: none}]\n")
	mustLoad(t, run{args: []string{"--config", dir + "/conf.yaml", "--addr=h"}})
}

func TestEmbedded(t *testing.T) {
	t.Parallel()
	s, _ := mustLoad(t, run{args: []string{"--url=embedded:data", "--db=2"}, env: map[string]string{"REDISCLI_AUTH": "r"}})
	if want := (redisconn.Target{Embedded: "data", DB: new(2)}); !reflect.DeepEqual(s.Target, want) {
		t.Errorf("got %+v, want %+v", s.Target, want)
	}
}
