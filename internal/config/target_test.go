// Tests of the server's shape, of TLS and of passwords that a command prints.
package config_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/redisconn"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func TestShapes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/secret", "from-file\n")
	context := func(values string) string {
		return "current-context: c\ncontexts: [{name: c, " + values + "}]\n"
	}
	type target = redisconn.Target
	tcp := func(change func(*target)) target {
		t := target{Network: "tcp", Addr: "h:1"}
		change(&t)
		return t
	}
	for name, c := range map[string]struct {
		run  run
		want target
	}{
		"cluster": {run{args: []string{"--addr=h:1,g:2", "--addr=f", "--cluster"}}, tcp(func(t *target) { t.Cluster, t.Others = true, []string{"g:2", "f:6379"} })},
		"Sentinels": {
			run{file: context("addr: [h:1, g:2], sentinel-master: m, sentinel-username: s, sentinel-password-file: " + dir + "/secret, db: 2")},
			tcp(func(t *target) {
				t.Others, t.DB = []string{"g:2"}, new(2)
				t.Sentinel = &redisconn.Sentinel{Master: "m", Username: "s", Password: "from-file"}
			}),
		},
		"Sentinels, a literal password": {
			run{args: []string{"--addr=h:1", "--sentinel-master=m"}, env: map[string]string{"KEYSPACECTL_SENTINEL_PASSWORD": awkward, "KEYSPACECTL_PASSWORD": "p"}},
			tcp(func(t *target) { t.Password, t.Sentinel = "p", &redisconn.Sentinel{Master: "m", Password: awkward} }),
		},
		"TLS of the URL": {
			run{args: []string{"--url=rediss://h:1", "--tls-ca-cert=ca", "--tls-cert=c", "--tls-key=k", "--tls-server-name=n"}},
			tcp(func(t *target) { t.TLS = &redisconn.TLS{CACert: "ca", Cert: "c", Key: "k", ServerName: "n"} }),
		},
		"TLS, files beside the config file": {
			run{args: []string{"--config=" + dir + "/c.yaml"}},
			tcp(func(t *target) { t.TLS = &redisconn.TLS{CACert: dir + "/ca", InsecureSkipVerify: true} }),
		},
		"TLS beside a redis URL":  {run{args: []string{"--url=redis://h:1", "--tls"}}, tcp(func(t *target) { t.TLS = &redisconn.TLS{} })},
		"TLS of a higher place":   {run{file: context("url: 'redis://h:1'"), args: []string{"--tls"}}, tcp(func(t *target) { t.TLS = &redisconn.TLS{} })},
		"TLS of a lower place":    {run{file: context("tls: true"), args: []string{"--url=redis://h:1"}}, tcp(func(*target) {})},
		"TLS kept for an address": {run{file: context("tls: true, tls-ca-cert: /ca"), args: []string{"--addr=h:1"}}, tcp(func(t *target) { t.TLS = &redisconn.TLS{CACert: "/ca"} })},
		"all of another address": {
			run{file: context("addr: x, tls: true, tls-cert: c, tls-key: k, tls-server-name: n, tls-insecure-skip-verify: true, cluster: true"), args: []string{"--addr=h:1"}},
			tcp(func(t *target) { t.TLS = &redisconn.TLS{} }),
		},
		"Sentinels of another address": {run{file: context("addr: x, sentinel-master: m"), args: []string{"--addr=h:1"}}, tcp(func(*target) {})},
		"shape in variables":           {run{env: map[string]string{"KEYSPACECTL_CLUSTER": "true"}, args: []string{"--addr=h:1"}}, tcp(func(t *target) { t.Cluster = true })},
	} {
		write(t, dir+"/c.yaml", context("url: 'rediss://h:1', tls-ca-cert: ca, tls-insecure-skip-verify: true"))
		if s, _ := mustLoad(t, c.run); !reflect.DeepEqual(s.Target, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, s.Target, c.want)
		}
	}
}

func TestIdleSettings(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]run{
		"--tls-ca-cert: means nothing without TLS":                    {args: []string{"--tls-ca-cert=f"}},
		"contexts[c].tls-cert: means nothing without TLS":             {file: "current-context: c\ncontexts: [{name: c, addr: h, tls-cert: f}]"},
		"KEYSPACECTL_SENTINEL_USERNAME: means nothing without --sent": {env: map[string]string{"KEYSPACECTL_SENTINEL_USERNAME": "s"}},
		"--tls: contradicts --url, which says rediss":                 {args: []string{"--tls=false", "--url=rediss://h"}},
		"--tls: contradicts KEYSPACECTL_URL, which says rediss":       {args: []string{"--tls=false"}, env: map[string]string{"KEYSPACECTL_URL": "rediss://h"}},
		"--cluster: means nothing to an embedded server":              {args: []string{"--url=embedded:f", "--cluster"}},
		"--addr: names 2 servers, and one is asked for":               {args: []string{"--addr=a,b"}},
		"KEYSPACECTL_SENTINEL_PASSWORD: contradicts KEYSPACECTL_SENT": {env: map[string]string{"KEYSPACECTL_SENTINEL_PASSWORD": "p", "KEYSPACECTL_SENTINEL_PASSWORD_FILE": "f", "KEYSPACECTL_SENTINEL_MASTER": "m"}},
		"--password-file: contradicts --password-command":             {args: []string{"--password-file=f", "--password-command=c"}},
		`--password-command" flag: is no command`:                     {args: []string{"--password-command=a | b"}},
	} {
		if _, _, err := load(t, r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	// What stands below the address is left alone.
	mustLoad(t, run{file: "current-context: c\ncontexts: [{name: c, cluster: true, tls-ca-cert: f}]", args: []string{"--url=embedded:f"}})
	mustLoad(t, run{env: map[string]string{"KEYSPACECTL_TLS_CA_CERT": "f"}, args: []string{"--url=redis://h"}})
}

func TestPasswordCommand(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "it's secret")
	write(t, script, "#!/bin/sh\nprintf '%s\\r\\n' \"$1\" more\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	quoted := `"` + script + `" '` + awkward + `'`
	for command, want := range map[string]string{
		quoted:                      awkward,
		`printf %s\n "two words" x`: "two words",
		`printf $HOME`:              "$HOME",
	} {
		s, _ := mustLoad(t, run{args: []string{"--addr=h:1", "--password-command", command}, env: map[string]string{"REDISCLI_AUTH": "r"}})
		if s.Target.Password != "" {
			t.Errorf("%s: has been run before it was needed", command)
		}
		if o, err := s.Connection(t.Context()); err != nil || o.Target.Password != want || o.Timeout != s.Timeout {
			t.Errorf("%s: %q, %v; want %q", command, o.Target.Password, err, want)
		}
	}
	for command, want := range map[string]string{
		"sh -c 'echo s3cret; echo s3cret >&2; exit 3'": "--password-command: the command failed: exit status 3",
		"/none/such": "--password-command: the command failed: fork/exec /none/such: no such file",
		"true":       "the first line that the command prints is empty",
	} {
		s, _ := mustLoad(t, run{args: []string{"--password-command", command}})
		_, err := s.Connection(t.Context())
		checkInvalid(t, err, want)
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the error tells the secret: %v", err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	s, _ := mustLoad(t, run{args: []string{"--password-command", "sleep 60"}})
	if _, err := s.Connection(ended); storeerr.KindOf(err) != storeerr.Invalid {
		t.Errorf("a command that is ended: %v", err)
	}
	// An address of a higher place does not get the context's password.
	s, _ = mustLoad(t, run{file: "current-context: c\ncontexts: [{name: c, password-command: /none}]", args: []string{"--addr=h"}})
	if _, err := s.Connection(t.Context()); err != nil {
		t.Errorf("the command of another address was run: %v", err)
	}
}
