// The hook that sees every command before miniredis does: it moves the clock,
// notices writes, and mends or answers the commands in which miniredis differs
// from a Redis.

package embedded

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// role is where a command comes from.
type role int

const (
	client role = iota // a connection
	script             // a running script: the server's lock is held
	own                // this package: nothing is changed about it
)

// roleOf tells where the commands of a peer come from. miniredis makes a peer
// for each call of a script, with a state from the first; the peer of a
// connection has none before its first command.
func (s *Server) roleOf(c *server.Peer) role {
	if r, ok := s.roles.Load(c); ok {
		return r.(role)
	}
	if c.Ctx != nil {
		return script
	}
	s.roles.Store(c, client)
	c.OnDisconnect(func() { s.roles.Delete(c) })
	return client
}

// hook answers a command, or returns false to leave it to miniredis. Changed
// commands go through the hook again, which leaves them as they are.
func (s *Server) hook(c *server.Peer, cmd string, args ...string) bool {
	from := s.roleOf(c)
	if from == own {
		return false
	}
	if from == client {
		s.clock.advance()
	}
	if !s.wrote.Load() && s.writes(cmd) {
		s.wrote.Store(true)
	}
	if s.data != nil && unkept(cmd) {
		c.WriteError("ERR '" + strings.ToLower(cmd) + "' makes data that the data file of the embedded server cannot keep")
		return true
	}
	changed := adjust(cmd, args)
	if changed == nil {
		changed = s.clock.fromNow(cmd, args)
	}
	if changed != nil {
		s.redis.Dispatch(c, append([]string{cmd}, changed...))
		return true
	}
	if from == script {
		return s.fromScript(c, cmd, args)
	}
	return s.fromClient(c, cmd, args)
}

// fromClient answers the commands of connections that need more than other
// arguments.
func (s *Server) fromClient(c *server.Peer, cmd string, args []string) bool {
	switch cmd {
	case "EVAL", "EVAL_RO", "EVALSHA", "EVALSHA_RO":
		return s.eval(c, cmd, args)
	case "SCRIPT":
		return s.script(c, args)
	case "INFO":
		// ECHO is queued in a transaction as INFO would be.
		s.redis.Dispatch(c, []string{"ECHO", s.info(args)})
		return true
	}
	return false
}

// fromScript answers the commands of scripts that need more than other
// arguments.
func (s *Server) fromScript(c *server.Peer, cmd string, args []string) bool {
	if cmd == doorCommand {
		return s.openDoor(c)
	}
	if scored(cmd, args) {
		s.writeScores(c, cmd, args)
		return true
	}
	return false
}

// writes tells whether a command may change data. A script's own commands
// come by here, so running one is no write.
func (s *Server) writes(cmd string) bool {
	switch cmd {
	case "AUTH", "CLIENT", "CLUSTER", "COMMAND", "DISCARD", "ECHO", "EVAL", "EVALSHA", "EXEC",
		"HELLO", "INFO", "MEMORY", "MULTI", "OBJECT", "PING", "PSUBSCRIBE", "PUBLISH", "PUBSUB",
		"PUNSUBSCRIBE", "QUIT", "SCRIPT", "SELECT", "SUBSCRIBE", "TIME", "UNSUBSCRIBE",
		"UNWATCH", "WAIT", "WATCH", "XINFO":
		return false
	}
	return s.redis.IsRegisteredCommand(cmd) && !s.redis.IsReadOnlyCommand(cmd)
}

// unkept tells whether a command makes data that has no place in a data file:
// streams, HyperLogLogs and expiries of single hash fields.
func unkept(cmd string) bool {
	switch cmd {
	case "XADD", "XGROUP", "PFADD", "PFMERGE", "HEXPIRE", "HSETEX":
		return true
	}
	return false
}

// adjust returns other arguments for a command that miniredis would take
// wrongly, or nil. Refusals are left to miniredis too, which marks a
// transaction as failed: it gets arguments that it refuses.
func adjust(cmd string, args []string) []string {
	with := func(i int, value string) []string {
		changed := slices.Clone(args)
		changed[i] = value
		return changed
	}
	switch cmd {
	case "SELECT":
		if n, err := strconv.Atoi(first(args)); err == nil && n >= databases {
			return with(0, "-1")
		}
	case "MEMORY":
		if len(args) == 4 && strings.EqualFold(args[0], "USAGE") && strings.EqualFold(args[2], "SAMPLES") {
			return args[:2]
		}
	case "KEYS", "PSUBSCRIBE", "SCAN", "HSCAN", "SSCAN", "ZSCAN":
		return safePatterns(cmd, args)
	case "SET", "GETEX", "SETEX", "PSETEX", "EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT":
		if i := expiryTooFar(cmd, args, time.Now()); i > 0 {
			return with(i, strconv.FormatUint(1<<63, 10))
		}
	}
	return nil
}

// expiryTooFar returns the place of an expiry that does not fit into the
// nanoseconds of a time.Duration from now on, which miniredis keeps it in; or 0.
func expiryTooFar(cmd string, args []string, now time.Time) int {
	const maxMs = int64(1<<63-1) / int64(time.Millisecond)
	i, unit := expiryArg(cmd, args)
	if i == 0 || i >= len(args) {
		return 0
	}
	n, err := strconv.ParseInt(args[i], 10, 64)
	limit := maxMs
	if strings.HasSuffix(unit, "AT") {
		limit += now.UnixMilli()
	}
	if !strings.HasPrefix(unit, "P") {
		limit /= 1000
	}
	if err != nil || n <= limit {
		return 0
	}
	return i
}

// expiryArg returns the place of a command's expiry among its arguments, or
// 0, and its unit: EX, PX, EXAT or PXAT.
func expiryArg(cmd string, args []string) (int, string) {
	switch cmd {
	case "EXPIRE", "SETEX":
		return 1, "EX"
	case "PEXPIRE", "PSETEX":
		return 1, "PX"
	case "EXPIREAT":
		return 1, "EXAT"
	case "PEXPIREAT":
		return 1, "PXAT"
	}
	options := 1 // of GETEX
	if cmd == "SET" {
		options = 2
	}
	for i := options; i+1 < len(args); i++ {
		switch unit := strings.ToUpper(args[i]); unit {
		case "EX", "PX", "EXAT", "PXAT":
			return i + 1, unit
		}
	}
	return 0, ""
}

// first returns the first argument, or the empty string.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
