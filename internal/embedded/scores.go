// Scores as scripts see them. miniredis writes 1e9 as "1e+9", which its own
// tonumber does not read, and Redis as "1000000000".

package embedded

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
)

// scored tells whether the reply to a command holds scores.
func scored(cmd string, args []string) bool {
	switch cmd {
	case "ZSCORE", "ZMSCORE", "ZINCRBY", "ZPOPMIN", "ZPOPMAX":
		return true
	case "ZRANGE", "ZREVRANGE", "ZRANGEBYSCORE", "ZREVRANGEBYSCORE":
		for _, arg := range args {
			if strings.EqualFold(arg, "WITHSCORES") {
				return true
			}
		}
	}
	return false
}

// writeScores runs a command of a script and writes its reply with scores as
// Redis writes them.
func (s *Server) writeScores(c *server.Peer, cmd string, args []string) {
	call := s.caller(c.Ctx)
	defer call.done()
	raw := call.raw(append([]string{cmd}, args...)...)
	reply, err := server.ParseReply(bufio.NewReader(bytes.NewReader(raw)))
	switch reply := reply.(type) {
	case string:
		c.WriteBulk(redisScore(reply))
	case []any:
		c.WriteLen(len(reply))
		for i, v := range reply {
			text, ok := v.(string)
			switch {
			case !ok:
				c.WriteNull()
			case cmd == "ZMSCORE" || i%2 == 1:
				c.WriteBulk(redisScore(text))
			default:
				c.WriteBulk(text)
			}
		}
	default:
		if err != nil {
			c.WriteError(err.Error())
			return
		}
		c.WriteRaw(string(raw))
	}
}

// redisScore writes a score as Redis 7 does: with 17 digits, and no exponent
// where these do without.
func redisScore(text string) string {
	score, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.HasSuffix(text, "inf") {
		return text
	}
	return strconv.FormatFloat(score, 'g', 17, 64)
}
