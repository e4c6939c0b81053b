// Scripts on the embedded server. Redis gives scripts cmsgpack and accepts a
// "#!lua" line, miniredis does neither: such scripts are changed before they
// run, and clients go on knowing them by the SHA-1 of what they sent. Errors
// that end a script are put in the words of Redis.

package embedded

import (
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
	"regexp"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2/server"
)

//go:embed cmsgpack.lua
var cmsgpackSource string

// cmsgpack is the library on one line, so that the lines of a script keep
// their numbers.
var cmsgpack = sync.OnceValue(func() string {
	var line strings.Builder
	for text := range strings.Lines(cmsgpackSource) {
		text = strings.TrimSpace(text)
		if text != "" && !strings.HasPrefix(text, "--") {
			line.WriteString(text)
			line.WriteByte(' ')
		}
	}
	return line.String()
})

// rewrites knows, by their SHA-1s, the scripts that run changed.
type rewrites struct {
	hashes sync.Map // SHA-1 of the text sent → SHA-1 of the text run
}

// source returns the text to run for a script.
func (r *rewrites) source(sent string) string {
	run := sent
	if strings.HasPrefix(run, "#!") {
		_, body, _ := strings.Cut(run, "\n")
		run = "\n" + body
	}
	if strings.Contains(run, "cmsgpack") {
		run = cmsgpack() + run
	}
	if run != sent {
		r.hashes.Store(sha1Hex(sent), sha1Hex(run))
	}
	return run
}

// hash returns the SHA-1 by which miniredis knows a script.
func (r *rewrites) hash(sent string) string {
	sent = strings.ToLower(sent)
	if run, ok := r.hashes.Load(sent); ok {
		return run.(string)
	}
	return sent
}

func sha1Hex(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// eval runs a script for a client.
func (s *Server) eval(c *server.Peer, cmd string, args []string) bool {
	if len(args) == 0 {
		return false
	}
	bySHA := strings.HasPrefix(cmd, "EVALSHA")
	run := s.scripts.hash
	if !bySHA {
		run = s.scripts.source
	}
	call := s.caller(c.Ctx)
	defer call.done()
	call.peer.Resp3 = c.Resp3
	reply := call.raw(append([]string{cmd, run(args[0])}, args[1:]...)...)
	c.Ctx = call.peer.Ctx
	if failure := luaFailure.FindSubmatch(reply); failure != nil {
		sha := args[0]
		if !bySHA {
			sha = sha1Hex(sha)
		}
		reply = redisFailure(failure, sha)
	}
	c.WriteRaw(string(reply))
	return true
}

// luaFailure matches how miniredis words the failure of a running script: the
// line, the message and the function it was raised in. A script that does not
// compile has no stack.
var luaFailure = regexp.MustCompile(
	`(?s)^-ERR Error compiling script \(new function\): (?::(\d+): )?(.*) stack traceback:\s+(?:\[G\]: in function '(\w+)')?`)

var errorCode = regexp.MustCompile(`^[A-Z]+ `)

// redisFailure words a match of luaFailure as Redis 7 does.
func redisFailure(match [][]byte, sha string) []byte {
	line, message, function := string(match[1]), string(match[2]), string(match[3])
	if line == "" {
		line = "1"
	}
	if function == "call" {
		// miniredis ends its own complaints about a call with the script.
		message, _, _ = strings.Cut(message, " script: ")
		if !errorCode.MatchString(message) {
			message = "ERR " + message
		}
	} else {
		message = "ERR user_script:" + line + ": " + message
	}
	return []byte("-" + message + " script: " + sha + ", on @user_script:" + line + ".\r\n")
}

// script answers SCRIPT LOAD and SCRIPT EXISTS where they name a script that
// runs changed.
func (s *Server) script(c *server.Peer, args []string) bool {
	if len(args) < 2 {
		return false
	}
	switch strings.ToUpper(args[0]) {
	case "LOAD":
		return s.loadScript(c, args)
	case "EXISTS":
		changed := false
		call := []string{"SCRIPT", args[0]}
		for _, sent := range args[1:] {
			run := s.scripts.hash(sent)
			changed = changed || run != sent
			call = append(call, run)
		}
		if changed {
			s.redis.Dispatch(c, call)
		}
		return changed
	}
	return false
}

// loadScript loads a changed script at once, and leaves it to ECHO to answer
// with the SHA-1 of what was sent, so that a transaction queues the answer.
func (s *Server) loadScript(c *server.Peer, args []string) bool {
	sent := args[1]
	run := s.scripts.source(sent)
	if run == sent || len(args) != 2 {
		return false
	}
	call := s.caller(nil)
	defer call.done()
	if _, err := call.do("SCRIPT", "LOAD", run); err != nil {
		return false
	}
	s.redis.Dispatch(c, []string{"ECHO", sha1Hex(sent)})
	return true
}
