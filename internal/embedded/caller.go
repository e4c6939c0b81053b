// Running commands on the embedded server from within the process, past the
// hook and without a connection.

package embedded

import (
	"bufio"
	"bytes"
	"errors"

	"github.com/alicebob/miniredis/v2/server"
)

// caller runs commands one after the other, for one connection's state.
type caller struct {
	s     *Server
	reply bytes.Buffer
	out   *bufio.Writer
	peer  *server.Peer
}

// caller returns a caller that acts for the connection state of another peer;
// nil is a new connection. Its end must be told by done.
func (s *Server) caller(state any) *caller {
	c := &caller{s: s}
	c.out = bufio.NewWriter(&c.reply)
	c.peer = server.NewPeer(c.out)
	c.peer.Ctx = state
	s.roles.Store(c.peer, own)
	return c
}

// done ends the use of the caller.
func (c *caller) done() { c.s.roles.Delete(c.peer) }

// raw runs a command and returns its reply as bytes of the protocol, valid
// until the next call.
func (c *caller) raw(args ...string) []byte {
	c.reply.Reset()
	c.s.redis.Dispatch(c.peer, args)
	c.peer.Flush()
	return c.reply.Bytes()
}

// do runs a command and returns its reply: a string, an int, nil or a slice of
// these.
func (c *caller) do(args ...string) (any, error) {
	reply, err := server.ParseReply(bufio.NewReader(bytes.NewReader(c.raw(args...))))
	if text, ok := reply.(server.Simple); ok {
		return string(text), err
	}
	return reply, err
}

// strings runs a command whose reply is a list of strings.
func (c *caller) strings(args ...string) ([]string, error) {
	reply, err := c.do(args...)
	if err != nil {
		return nil, err
	}
	list, ok := reply.([]any)
	if !ok && reply != nil {
		return nil, errors.New("the reply is no list")
	}
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i], _ = v.(string)
	}
	return texts, nil
}
