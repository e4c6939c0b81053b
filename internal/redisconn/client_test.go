// Tests of clients against a real server and against listeners that fail at
// each stage of a command.
package redisconn_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/redisconn"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func TestDatabases(t *testing.T) {
	t.Parallel()
	socket := startRedis(t)
	for url, want := range map[string]string{"unix://" + socket: "0", "unix://" + socket + "?db=3": "3"} {
		if err := openURL(t, url).Set(t.Context(), "db", want, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	err := openURL(t, "unix://"+socket+"?db=16").Set(t.Context(), "db", "16", 0).Err()
	checkError(t, storeerr.FromRedis(err, storeerr.Writes, "putting"), storeerr.Invalid, "no such database")
	for url, want := range map[string]string{"unix://" + socket: "0", "unix://" + socket + "?db=3": "3"} {
		if got, err := openURL(t, url).Get(t.Context(), "db").Result(); err != nil || got != want {
			t.Errorf("%s holds %q, %v; want %q", url, got, err, want)
		}
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	server := redisconn.Target{Network: "unix", Addr: startRedis(t)}
	admin := open(t, redisconn.Options{Target: server})
	for _, user := range [][]any{{"bob", "on", ">builder", "+@all"}, {"eve", "on", "nopass", "+@all"}, {"default", "resetpass", ">" + awkward}} {
		if err := admin.Do(t.Context(), append([]any{"ACL", "SETUSER"}, user...)...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		user, password, whoami string
		kind                   storeerr.Kind
		says                   string
	}{
		{user: "", password: awkward, whoami: "default"},
		{user: "default", password: awkward, whoami: "default"},
		{user: "bob", password: "builder", whoami: "bob"},
		{user: "eve", password: "anything", whoami: "eve"},
		{user: "", password: "", kind: storeerr.Denied, says: "asks for a password"},
		{user: "default", password: "", kind: storeerr.Denied, says: "asks for a password"},
		{user: "", password: "wrong", kind: storeerr.Denied, says: "user name or password is wrong"},
		{user: "bob", password: awkward, kind: storeerr.Denied, says: "user name or password is wrong"},
	} {
		target := server
		target.Username, target.Password = c.user, c.password
		var trace bytes.Buffer
		client := open(t, redisconn.Options{Target: target, Trace: &trace})
		got, err := client.Do(t.Context(), "ACL", "WHOAMI").Text()
		if c.kind != "" {
			checkError(t, storeerr.FromRedis(err, storeerr.Writes, "putting"), c.kind, c.says)
		} else if err != nil || got != c.whoami {
			t.Errorf("%q signs in as %q, %v; want %q", c.user, got, err, c.whoami)
		}
		if c.password != "" && strings.Contains(trace.String(), c.password) {
			t.Errorf("the trace tells the password:\n%s", trace.String())
		}
	}
}

func TestUserWithoutPassword(t *testing.T) {
	t.Parallel()
	_, err := redisconn.Open(redisconn.Options{Target: redisconn.Target{Network: "tcp", Addr: "127.0.0.1:1", Username: "bob"}})
	checkError(t, err, storeerr.Invalid, `the user "bob" has no password`)
	_, err = redisconn.Open(redisconn.Options{Target: redisconn.Target{Embedded: "f"}})
	checkError(t, err, storeerr.Invalid, "embedded")
}

// TestFailures runs a write against servers that fail at each stage.
func TestFailures(t *testing.T) {
	t.Parallel()
	closed := redisconn.Target{Network: "tcp", Addr: closedPort(t)}
	tlsTarget := listenTLS(t)
	overTLS := func(target redisconn.Target) redisconn.Target { target.TLS = &redisconn.TLS{}; return target }
	wait := make(chan struct{})
	t.Cleanup(func() { close(wait) })
	silent := func(net.Conn) { <-wait }
	afterHello := func(then func(net.Conn)) func(net.Conn) {
		return func(c net.Conn) { answerHello(c); then(c) }
	}
	for name, c := range map[string]struct {
		target redisconn.Target
		kind   storeerr.Kind
		says   string
	}{
		"refused":               {closed, storeerr.Unavailable, "cannot connect to " + closed.Addr + ": connection refused"},
		"no socket":             {redisconn.Target{Network: "unix", Addr: "/nowhere/s"}, storeerr.Unavailable, "cannot connect to /nowhere/s: no such file or directory"},
		"no such host":          {redisconn.Target{Network: "tcp", Addr: "host.invalid:6379"}, storeerr.Unavailable, "cannot connect to host.invalid:6379: "},
		"silent":                {listen(t, silent), storeerr.Unavailable, "did not answer in time"},
		"silent, TLS":           {overTLS(listen(t, silent)), storeerr.Unavailable, "timed out"},
		"hangs up":              {listen(t, func(net.Conn) {}), storeerr.Unavailable, "closed the connection before it answered"},
		"plain to TLS":          {tlsTarget, storeerr.Unavailable, tlsTarget.Addr},
		"TLS to plain":          {overTLS(listen(t, func(c net.Conn) { _, _ = c.Write([]byte("-ERR unknown\r\n")); <-wait })), storeerr.Unavailable, "does not look like a TLS handshake"},
		"TLS, not trusted":      {overTLS(tlsTarget), storeerr.Unavailable, "certificate signed by unknown authority"},
		"silent after sending":  {listen(t, afterHello(silent)), storeerr.UnknownOutcome, "timed out"},
		"hangs up after it":     {listen(t, afterHello(func(net.Conn) {})), storeerr.UnknownOutcome, "closed the connection"},
		"half a reply after it": {listen(t, afterHello(func(c net.Conn) { _, _ = c.Write([]byte("+O")) })), storeerr.UnknownOutcome, "closed the connection"},
		"refused after sending": {listen(t, afterHello(func(c net.Conn) { _, _ = c.Write([]byte("-OOM command not allowed\r\n")) })), storeerr.OutOfMemory, "out of memory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := redisconn.Options{Target: c.target, Timeout: patience}
			if strings.HasPrefix(name, "silent") {
				o.Timeout = impatience
			}
			err := open(t, o).Set(t.Context(), "k", "v", 0).Err()
			checkError(t, storeerr.FromRedis(err, storeerr.Writes, "putting"), c.kind, c.says)

			client := open(t, o)
			pipe := client.Pipeline()
			first, second := pipe.Set(t.Context(), "k", "v", 0), pipe.Set(t.Context(), "l", "v", 0)
			_, _ = pipe.Exec(t.Context())
			if c.kind == storeerr.OutOfMemory {
				return // the second command of the two gets no answer
			}
			for _, cmd := range []*redis.StatusCmd{first, second} {
				checkError(t, storeerr.FromRedis(cmd.Err(), storeerr.Writes, "putting"), c.kind, "")
			}
		})
	}
}

// A context that ends while the handshake waits is no lost answer.
func TestContextEndsBeforeSending(t *testing.T) {
	t.Parallel()
	wait := make(chan struct{})
	t.Cleanup(func() { close(wait) })
	client := open(t, redisconn.Options{Target: listen(t, func(net.Conn) { <-wait })})
	ctx, cancel := context.WithTimeout(t.Context(), impatience)
	defer cancel()
	err := client.Set(ctx, "k", "v", 0).Err()
	checkError(t, storeerr.FromRedis(err, storeerr.Writes, "putting"), storeerr.Unavailable, "did not answer in time")

	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := client.Set(canceled, "k", "v", 0).Err(); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled command fails with %v", err)
	}
}

// Nothing is sent twice, whatever the failure invites to.
func TestNothingIsSentTwice(t *testing.T) {
	t.Parallel()
	var writes atomic.Int32
	for _, reply := range []string{"", "-LOADING still\r\n", "-READONLY replica\r\n", "-TRYAGAIN later\r\n", "-CLUSTERDOWN down\r\n"} {
		writes.Store(0)
		client := open(t, redisconn.Options{Target: listen(t, func(c net.Conn) {
			if answerHello(c) == "SET" {
				writes.Add(1)
				_, _ = c.Write([]byte(reply))
			}
		})})
		if err := client.Set(t.Context(), "k", "v", 0).Err(); err == nil {
			t.Errorf("after %q: no error", reply)
		}
		if got := writes.Load(); got != 1 {
			t.Errorf("after %q: sent %d times", reply, got)
		}
	}
}

// Servers that know neither HELLO nor CLIENT are served as well, and are
// asked nothing else before the first command.
func TestHandshakeRefused(t *testing.T) {
	t.Parallel()
	for _, refused := range []string{"", "HELLO", "CLIENT"} {
		m := miniredis.RunT(t)
		var seen []string
		m.Server().SetPreHook(func(p *server.Peer, cmd string, _ ...string) bool {
			seen = append(seen, cmd)
			if cmd == refused {
				p.WriteError("ERR unknown command")
				return true
			}
			return false
		})
		client := openURL(t, "redis://"+m.Addr())
		if err := client.Set(t.Context(), "k", "v", 0).Err(); err != nil {
			t.Errorf("with %s refused: %v", refused, err)
		}
		if got := strings.Join(seen, " "); got != "HELLO SET" {
			t.Errorf("with %s refused the server saw %q", refused, got)
		}
	}
}

// checkError checks an error's kind, and that its message is one line with a text.
func checkError(t *testing.T, err error, kind storeerr.Kind, says string) {
	t.Helper()
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v: %q; want %v: %q", storeerr.KindOf(err), err, kind, says)
	}
}

// checkHint checks that an error has a hint with a text.
func checkHint(t *testing.T, err error, want string) {
	t.Helper()
	if hint := storeerr.HintOf(err); !strings.Contains(hint, want) {
		t.Errorf("%v has the hint %q; want %q", err, hint, want)
	}
}
