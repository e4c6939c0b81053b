package storeerr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

func TestErrorIsItsKind(t *testing.T) {
	t.Parallel()
	cause := errors.New("cause")
	err := fmt.Errorf("outside: %w", New(Conflict, "the row differs: %w", cause).AtKey("k\n").WithHint("look at %s", "k"))
	if !errors.Is(err, Conflict) || errors.Is(err, Integrity) || !errors.Is(err, cause) {
		t.Errorf("%v is of the wrong kind", err)
	}
	if KindOf(err) != Conflict || HintOf(err) != "look at k" {
		t.Errorf("kind %q, hint %q", KindOf(err), HintOf(err))
	}
	if want := `outside: the row differs: cause (redis key "k\n")`; err.Error() != want {
		t.Errorf("says %q, want %q", err, want)
	}
	if KindOf(nil) != "" || KindOf(cause) != Failed || HintOf(cause) != "" || HintOf(nil) != "" {
		t.Error("errors of others have a kind or a hint")
	}
	if got := HintOf(New(Failed, "outer: %w", err)); got != "look at k" {
		t.Errorf("the inner hint is %q", got)
	}
}

// reply is an error as a server answers it.
type reply string

func (r reply) Error() string { return string(r) }
func (reply) RedisError()     {}

var _ redis.Error = reply("")

func TestFromRedis(t *testing.T) {
	t.Parallel()
	timeout := &net.OpError{Op: "read", Net: "tcp", Err: context.DeadlineExceeded}
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connect: connection refused")}
	for _, c := range []struct {
		err         error
		read, write Kind
	}{
		{reply("READONLY You can't write against a read only replica."), ReadOnly, ReadOnly},
		{reply("ERR Error running script (call to f_0): @user_script:9: @user_script: 9: -READONLY You can't write against a read only replica."), ReadOnly, ReadOnly},
		{reply("READONLY You can't write against a read only replica. script: 5bf, on @user_script:9."), ReadOnly, ReadOnly},
		{reply("MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk."), ReadOnly, ReadOnly},
		{reply("NOREPLICAS Not enough good replicas to write."), ReadOnly, ReadOnly},
		{reply("OOM command not allowed when used memory > 'maxmemory'."), OutOfMemory, OutOfMemory},
		{reply("NOAUTH Authentication required."), Denied, Denied},
		{reply("WRONGPASS invalid username-password pair or user is disabled."), Denied, Denied},
		{reply("ERR AUTH <password> called without any password configured for the default user."), Denied, Denied},
		{reply("NOPERM this user has no permissions to run the 'evalsha' command"), Denied, Denied},
		{reply("NOPERM No permissions to access a key"), Denied, Denied},
		{reply("ERR The user executing the script can't run this command or subcommand script: 5bf, on @user_script:9."), Denied, UnknownOutcome},
		{reply("WRONGTYPE Operation against a key holding the wrong kind of value script: 5bf, on @user_script:9."), Integrity, UnknownOutcome},
		{reply("ERR The user executing the script can't run this command or subcommand"), Denied, Denied},
		{reply("LOADING Redis is loading the dataset in memory"), Unavailable, Unavailable},
		{reply("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."), Unavailable, Unavailable},
		{reply("CLUSTERDOWN Hash slot not served"), Unavailable, Unavailable},
		{reply("TRYAGAIN Multiple keys request during rehashing of slot"), Unavailable, Unavailable},
		{reply("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."), Unavailable, Unavailable},
		{reply("ERR max number of clients reached"), Unavailable, Unavailable},
		{reply("WRONGTYPE Operation against a key holding the wrong kind of value"), Integrity, Integrity},
		{reply("ERR DB index is out of range"), Invalid, Invalid},
		{reply("MOVED 3999 127.0.0.1:6381"), Invalid, Invalid},
		{reply("ASK 3999 127.0.0.1:6381"), Invalid, Invalid},
		{reply("ERR This instance has cluster support disabled"), Invalid, Invalid},
		{reply("ERR user_script:9: attempt to index a nil value script: 5bf, on @user_script:9."), Failed, UnknownOutcome},
		{reply("ERR unknown command 'EVALSHA'"), Failed, Failed},
		{refused, Unavailable, Unavailable},
		{timeout, Unavailable, UnknownOutcome},
		{io.EOF, Unavailable, UnknownOutcome},
		{redis.ErrPoolTimeout, Unavailable, Unavailable},
		{NotSent(timeout), Unavailable, Unavailable},
		{fmt.Errorf("wrapped: %w", NotSent(io.EOF)), Unavailable, Unavailable},
	} {
		for effect, want := range map[Effect]Kind{Reads: c.read, Writes: c.write} {
			err := FromRedis(c.err, effect, "doing it")
			if KindOf(err) != want || !strings.HasPrefix(err.Error(), "doing it: ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("effect %d of %q: %s, %q, want %s", effect, c.err, KindOf(err), err, want)
			}
			if !errors.Is(err, c.err) {
				t.Errorf("%q does not lead to %q", err, c.err)
			}
		}
	}
}

func TestAnswerLost(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		FromRedis(io.EOF, Writes, "doing it"):                                                   true,
		FromRedis(io.EOF, Reads, "doing it"):                                                    false,
		FromRedis(reply("ERR user_script:9: attempt to index a nil value"), Writes, "doing it"): false,
	} {
		if got := AnswerLost(err); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}

func TestFromRedisLeavesAlone(t *testing.T) {
	t.Parallel()
	if err := FromRedis(nil, Writes, "doing it"); err != nil {
		t.Error(err)
	}
	if err := FromRedis(New(Expired, "gone"), Writes, "doing it"); KindOf(err) != Expired || err.Error() != "doing it: gone" {
		t.Error(err)
	}
	if err := FromRedis(context.Canceled, Reads, "doing it"); !errors.Is(err, context.Canceled) || KindOf(err) != Failed {
		t.Error(err)
	}
	if err := FromRedis(context.Canceled, Writes, "doing it"); !errors.Is(err, context.Canceled) || KindOf(err) != UnknownOutcome {
		t.Error(err)
	}
}
