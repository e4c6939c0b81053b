// Tests of what a trace shows and what it keeps to itself.
package redisconn_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"github.com/keyspacectl/keyspacectl/internal/redisconn"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
)

func TestTrace(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	m.RequireUserAuth("bob", "sesame")
	var trace bytes.Buffer
	client := open(t, redisconn.Options{Trace: &trace, Target: redisconn.Target{
		Network: "tcp", Addr: m.Addr(), Username: "bob", Password: "sesame", DB: new(2),
	}})
	ctx := t.Context()
	client.Set(ctx, "a\x1b[2J\n日", "payload", 0)
	client.Get(ctx, "missing")
	client.Get(ctx, strings.Repeat("k", 100))
	client.Eval(ctx, "return 1", []string{"k1", "k2"}, "payload")
	client.EvalSha(ctx, "no\nsuch", []string{"k1", "k2", "k3", "k4", "k5"}, "pay", []byte("load"))
	client.Do(ctx, "INCR", "text\n")
	pipe := client.Pipeline()
	pipe.HSet(ctx, "h", "payload", "payload")
	pipe.Ping(ctx)
	if _, err := pipe.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	got := regexp.MustCompile(`\d+\.\d ms`).ReplaceAllString(trace.String(), "T")
	want := strings.Join([]string{
		`redis: HELLO (T)`,
		`redis: [1/1] SELECT "2" (T)`,
		`redis: SET "a\x1b[2J\n日" + 1 args, 7 bytes (T)`,
		`redis: GET "missing" (T)`,
		`redis: GET "` + strings.Repeat("k", 48) + `…" (T)`,
		`redis: EVAL (script) "k1" "k2" + 1 args, 7 bytes (T)`,
		`redis: EVALSHA no\nsuch "k1" "k2" "k3" … 5 keys + 2 args, 7 bytes (T): NOSCRIPT No matching script. Please use EVAL.`,
		`redis: INCR "text\n" (T)`,
		`redis: [1/2] HSET "h" + 2 args, 14 bytes (T)`,
		`redis: [2/2] PING (T)`,
		``,
	}, "\n")
	if got != want {
		t.Errorf("the trace is\n%s\nwant\n%s", got, want)
	}
}

func TestTraceNamesScripts(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	var trace bytes.Buffer
	client := open(t, redisconn.Options{Trace: &trace, Target: redisconn.Target{Network: "tcp", Addr: m.Addr()}})
	for _, s := range luascripts.All() {
		trace.Reset()
		_ = client.EvalSha(t.Context(), s.SHA1, []string{"k"}).Err()
		_ = client.Eval(t.Context(), s.Source, []string{"k"}).Err()
		for _, want := range []string{"redis: EVALSHA " + s.Name + ` "k" (`, "redis: EVAL " + s.Name + ` "k" (`} {
			if !strings.Contains(trace.String(), want) {
				t.Errorf("the trace of %s lacks %q:\n%s", s.Name, want, trace.String())
			}
		}
		if strings.Contains(trace.String(), "KEYS[") {
			t.Errorf("the trace of %s shows its source", s.Name)
		}
	}
}
