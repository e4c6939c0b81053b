// Servers that say what a test tells them to.
package redisconn_test

import (
	"bufio"
	"fmt"
	"net"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/redisconn"
)

// answerWith answers each command but HELLO, which it refuses, with what reply
// returns. An empty reply hangs up.
func answerWith(t *testing.T, reply func(command string) string) redisconn.Target {
	t.Helper()
	return listen(t, func(c net.Conn) { converse(c, reply) })
}

func converse(c net.Conn, reply func(command string) string) {
	in := bufio.NewReader(c)
	for {
		name, text := readName(in), "-ERR unknown command 'HELLO'\r\n"
		switch name {
		case "":
			return
		case "HELLO":
		default:
			text = reply(name)
		}
		if _, err := c.Write([]byte(text)); err != nil || text == "" {
			return
		}
	}
}

// node is answerWith for a node that says that it is the whole cluster.
func node(t *testing.T, reply func(command string) string) redisconn.Target {
	t.Helper()
	target := listen(t, func(c net.Conn) {
		own := c.LocalAddr().(*net.TCPAddr).Port
		converse(c, func(command string) string {
			if command == "CLUSTER" {
				return fmt.Sprintf("*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$9\r\n127.0.0.1\r\n:%d\r\n$1\r\nn\r\n", own)
			}
			return reply(command)
		})
	})
	target.Cluster = true
	return target
}
