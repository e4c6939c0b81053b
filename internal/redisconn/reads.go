// Which commands only read, so that running them twice is as good as once.

package redisconn

import (
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
)

// onlyRead reports whether none of the commands changes anything. A command
// that is not known here counts as one that does.
func onlyRead(cmds []redis.Cmder) bool {
	for _, cmd := range cmds {
		if !reads(cmd.Args()) {
			return false
		}
	}
	return true
}

func reads(args []any) bool {
	word := func(i int) string {
		if i >= len(args) {
			return ""
		}
		return strings.ToLower(fmt.Sprint(args[i]))
	}
	switch word(0) {
	case "bitcount", "dbsize", "dump", "echo", "exists", "expiretime", "get", "getrange",
		"hexists", "hget", "hgetall", "hkeys", "hlen", "hmget", "hscan", "hstrlen", "hvals",
		"info", "lastsave", "llen", "lrange", "mget", "object", "pexpiretime", "ping", "pttl", "role",
		"scan", "scard", "sismember", "smembers", "sscan", "strlen", "time", "ttl", "type",
		"zcard", "zcount", "zlexcount", "zmscore", "zrange", "zrangebylex", "zrangebyscore", "zrank",
		"zrevrange", "zrevrangebylex", "zrevrangebyscore", "zrevrank", "zscan", "zscore",
		"multi", "exec": // of reads alone
		return true
	case "eval", "evalsha":
		return len(args) > 1 && readOnlyScript(fmt.Sprint(args[1]))
	case "eval_ro", "evalsha_ro":
		return true
	case "acl":
		return word(1) == "whoami" || word(1) == "dryrun" || word(1) == "getuser"
	case "cluster":
		// Not "slots": the client library asks the next node, as long as the
		// one that is gone is not waited for.
		return word(1) == "info" || word(1) == "nodes"
	case "config":
		return word(1) == "get"
	case "memory":
		return word(1) == "usage"
	case "script":
		return word(1) == "exists"
	}
	return false
}

// readOnlyScript reports whether a script, given by source or SHA-1, is one of
// ours that only reads.
func readOnlyScript(script string) bool {
	for _, s := range luascripts.All() {
		if s.SHA1 == script || s.Source == script {
			return s.ReadOnly
		}
	}
	return false
}
