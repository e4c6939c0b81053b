// The trace of -v: a line for each command with its time, and no secret.

package redisconn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/keyformat"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
)

// keyPreview is how many bytes of a key a trace shows, before escaping.
const keyPreview = 48

// tracer writes a line for each command and pipeline.
type tracer struct {
	mu  sync.Mutex
	out io.Writer
}

func (t *tracer) DialHook(next redis.DialHook) redis.DialHook { return next }

func (t *tracer) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		start := time.Now()
		err := next(ctx, cmd)
		t.line(describe(cmd), start, err)
		return err
	}
}

func (t *tracer) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		start := time.Now()
		err := next(ctx, cmds)
		for i, cmd := range cmds {
			t.line(fmt.Sprintf("[%d/%d] %s", i+1, len(cmds), describe(cmd)), start, cmd.Err())
		}
		return err
	}
}

// line writes one line. A trace that cannot be written is no reason to fail.
func (t *tracer) line(what string, start time.Time, err error) {
	took := float64(time.Since(start).Microseconds()) / 1000
	outcome := ""
	if err != nil && !errors.Is(err, redis.Nil) {
		outcome = ": " + keyformat.Printable(err.Error())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = fmt.Fprintf(t.out, "redis: %s (%.1f ms)%s\n", what, took, outcome)
}

// describe names a command, its keys and the amount of the rest. Arguments of
// the handshake hold secrets and are left out.
func describe(cmd redis.Cmder) string {
	args := cmd.Args()
	name := strings.ToUpper(fmt.Sprint(args[0]))
	var b strings.Builder
	b.WriteString(keyformat.Escape(name))
	rest := args[1:]
	switch name {
	case "AUTH", "HELLO", "ACL":
		return b.String()
	case "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO":
		rest = describeScript(&b, name, rest)
	default:
		if len(rest) > 0 {
			b.WriteByte(' ')
			b.WriteString(preview(rest[0]))
			rest = rest[1:]
		}
	}
	if len(rest) > 0 {
		fmt.Fprintf(&b, " + %d args, %d bytes", len(rest), size(rest))
	}
	return b.String()
}

// describeScript writes the script's name and its keys and returns the
// arguments after them.
func describeScript(b *strings.Builder, name string, args []any) []any {
	if len(args) < 2 {
		return args
	}
	b.WriteByte(' ')
	b.WriteString(scriptName(name, fmt.Sprint(args[0])))
	keys, rest := 0, args[2:]
	if n, ok := args[1].(int); ok {
		keys = min(n, len(rest))
	}
	for i, key := range rest[:keys] {
		if i == 3 {
			fmt.Fprintf(b, " … %d keys", keys)
			break
		}
		b.WriteByte(' ')
		b.WriteString(preview(key))
	}
	return rest[keys:]
}

// scriptName returns the name of one of our scripts, given by source or SHA-1,
// and else the SHA-1 or a word.
func scriptName(command, script string) string {
	for _, s := range luascripts.All() {
		if s.SHA1 == script || s.Source == script {
			return s.Name
		}
	}
	if strings.HasPrefix(command, "EVALSHA") {
		return keyformat.Escape(script)
	}
	return "(script)"
}

// preview shows a key, escaped and cut.
func preview(arg any) string {
	key := fmt.Sprint(arg)
	if b, ok := arg.([]byte); ok {
		key = string(b)
	}
	if len(key) <= keyPreview {
		return `"` + keyformat.Escape(key) + `"`
	}
	return `"` + keyformat.Escape(key[:keyPreview]) + `…"`
}

// size is how many bytes of data args hold.
func size(args []any) int {
	n := 0
	for _, arg := range args {
		switch v := arg.(type) {
		case string:
			n += len(v)
		case []byte:
			n += len(v)
		default:
			n += len(fmt.Sprint(v))
		}
	}
	return n
}
