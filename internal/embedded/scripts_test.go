// Tests of scripts: the same answers from the embedded server as from Redis.
package embedded_test

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
)

func sha1Of(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestScriptsAreKnownByTheHashOfWhatWasSent(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		c, ctx := s.Client(t), t.Context()
		for _, script := range []string{
			"return 'plain'",
			"return cmsgpack.unpack(cmsgpack.pack('plain'))",
			"-- cmsgpack\nreturn rawget(_G, 'cmsgpack') and 'plain'",
			"#!lua\nreturn 'plain'",
			"(function() end)() return cmsgpack and 'plain'",
		} {
			sha := sha1Of(script)
			if got, err := c.ScriptLoad(ctx, script).Result(); got != sha || err != nil {
				t.Errorf("SCRIPT LOAD %q = %q, %v, want %q", script, got, err, sha)
			}
			for _, call := range []*redis.Cmd{
				c.EvalSha(ctx, sha, nil), c.EvalSha(ctx, strings.ToUpper(sha), nil), c.Eval(ctx, script, nil),
			} {
				if call.Val() != "plain" {
					t.Errorf("%v, want \"plain\"", call)
				}
			}
			if got := c.ScriptExists(ctx, sha, sha1Of("other"), sha).Val(); !reflect.DeepEqual(got, []bool{true, false, true}) {
				t.Errorf("SCRIPT EXISTS = %v, want true, false, true", got)
			}
			must(t, c.ScriptFlush(ctx))
			if err := c.EvalSha(ctx, sha, nil).Err(); !redis.HasErrorPrefix(err, "NOSCRIPT") {
				t.Errorf("EVALSHA after SCRIPT FLUSH: %v, want NOSCRIPT", err)
			}
			must(t, c.Eval(ctx, script, nil))
			if got := c.EvalSha(ctx, sha, nil).Val(); got != "plain" {
				t.Errorf("EVALSHA after EVAL = %v, want \"plain\"", got)
			}
		}
	})
}

func TestScriptsInTransactions(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		c, ctx := s.Client(t), t.Context()
		const script = "redis.call('SET', KEYS[1], cmsgpack.pack(ARGV[1])) return ARGV[1]"
		tx := c.TxPipeline()
		load := tx.ScriptLoad(ctx, script)
		run := tx.EvalSha(ctx, sha1Of(script), []string{"k"}, "a")
		again := tx.Eval(ctx, script, []string{"k"}, "b")
		get := tx.Get(ctx, "k")
		if _, err := tx.Exec(ctx); err != nil {
			t.Fatal(err)
		}
		if load.Val() != sha1Of(script) || run.Val() != "a" || again.Val() != "b" || get.Val() != "\xa1b" {
			t.Errorf("the transaction answered %v, %v, %v, %v", load, run, again, get)
		}
	})
}

// TestScriptReplies holds what scripts answer, errors included, to one text
// for both servers. A dot in want stands for the script's own SHA-1.
func TestScriptReplies(t *testing.T) {
	t.Parallel()
	tests := []struct{ script, want string }{
		{"return redis.call('TYPE', 'z').ok", "zset"},
		{"return redis.call('TYPE', 'none')", "none"},
		{"return redis.status_reply('FINE')", "FINE"},
		{"return type(redis.call('GET', 'none'))", "boolean"},
		{"return {1, 'a', false, 3.9, {2}, nil, 4}", "[1 a <nil> 3 [2]]"},
		{"return redis.error_reply('CONFLICT why')", "CONFLICT why"},
		{"return {err = 'CONFLICT why'}", "CONFLICT why"},
		{"return redis.pcall('GET', 'z').err", "WRONGTYPE Operation against a key holding the wrong kind of value"},
		{"return redis.pcall('GET', 'z')", "WRONGTYPE Operation against a key holding the wrong kind of value"},
		{"\nreturn redis.call('GET', 'z')", "WRONGTYPE Operation against a key holding the wrong kind of value script: ., on @user_script:2."},
		{"return redis.call('ZADD', 'z', 'x', 'm')", "ERR value is not a valid float script: ., on @user_script:1."},
		{"return redis.call('NOSUCH')", "ERR Unknown Redis command called from script script: ., on @user_script:1."},
		{"\n\nerror('boom')", "ERR user_script:3: boom script: ., on @user_script:3."},
		{"local cmsgpack = cmsgpack\nerror('boom')", "ERR user_script:2: boom script: ., on @user_script:2."},
		{"return redis.call('ZSCORE', 'z', 'billion')", "1000000000"},
		{"return tonumber(redis.call('ZSCORE', 'z', 'trillions')) + 1", "2000000000001"},
		{"return redis.call('ZSCORE', 'z', 'none')", "redis: nil"},
		{"return redis.call('ZSCORE', 'h', 'f')", "WRONGTYPE Operation against a key holding the wrong kind of value script: ., on @user_script:1."},
		{"return redis.call('ZMSCORE', 'z', 'tenth', 'none', 'max')", "[0.10000000000000001 <nil> 9007199254740991]"},
		{"return redis.call('ZRANGE', 'z', 0, -1, 'WITHSCORES')",
			"[1e+8 -1000000000 tenth 0.10000000000000001 billion 1000000000 trillions 2000000000000 max 9007199254740991 huge 1.0000000000000001e+300 inf inf]"},
		{"return redis.call('ZREVRANGEBYSCORE', 'z', '(9007199254740991', '-inf', 'withscores', 'LIMIT', 0, 1)", "[trillions 2000000000000]"},
		{"return redis.call('ZRANGEBYSCORE', 'z', '(1000000000', '(9007199254740991')", "[trillions]"},
		{"return redis.call('ZINCRBY', 'other', 1000000000, 'm')", "1000000000"},
		{"return {redis.call('ZADD', 'other', 'LT', 5, 'n'), redis.call('ZADD', 'other', 'LT', 'CH', 7, 'n')," +
			"redis.call('ZADD', 'other', 'GT', 'CH', 7, 'n'), redis.call('ZADD', 'other', 'XX', 7, 'o'), redis.call('ZSCORE', 'other', 'n')}", "[1 0 1 0 7]"},
		{"local t = {} for i = 1, 7900 do t[i] = 'k' .. i end return redis.call('DEL', unpack(t))", "0"},
		{"local t = {} for i = 1, 7900 do t[i] = 'k' .. i end return #table.concat(t)", "38393"},
		{"local t = {} t[50000000] = 'sparse' return t[50000000]", "sparse"},
		{"return redis.call('HSTRLEN', 'h', 'f')", "5"},
	}
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		c, ctx := s.Client(t), t.Context()
		must(t, c.HSet(ctx, "h", "f", "value"))
		for member, score := range map[string]string{
			"billion": "1000000000", "trillions": "2000000000000", "max": "9007199254740991",
			"tenth": "0.1", "huge": "1e300", "inf": "inf", "1e+8": "-1000000000",
		} {
			must(t, c.Do(ctx, "ZADD", "z", score, member))
		}
		for _, tt := range tests {
			want := strings.Replace(tt.want, "script: .,", "script: "+sha1Of(tt.script)+",", 1)
			if got := reply(c.Eval(ctx, tt.script, nil)); got != want {
				t.Errorf("%q answered\n%s\nwant\n%s", tt.script, got, want)
			}
		}
		if err := c.EvalSha(ctx, sha1Of("unknown"), nil).Err(); err.Error() != "NOSCRIPT No matching script. Please use EVAL." {
			t.Errorf("EVALSHA of no script: %v", err)
		}
		if err := c.Eval(ctx, "return return", nil).Err(); !strings.HasPrefix(err.Error(), "ERR Error compiling script (new function): ") {
			t.Errorf("EVAL of what does not compile: %v", err)
		}
	})
}

func reply(cmd *redis.Cmd) string {
	if cmd.Err() != nil {
		return cmd.Err().Error()
	}
	return fmt.Sprint(cmd.Val())
}
