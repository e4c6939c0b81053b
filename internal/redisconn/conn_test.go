// Tests of the connection itself: when it gives up, and what counts as sent.
package redisconn

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// TestCarried holds that what goes either way is told, to the byte.
func TestCarried(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	carried := 0
	c := &conn{Conn: near, dialer: &dialer{link: &link{carried: func(n int) { carried += n }}}, idle: time.Minute}
	go func() {
		got := make([]byte, writeChunk+1)
		_, _ = io.ReadFull(far, got)
		_, _ = far.Write([]byte("+OK\r\n"))
	}()
	if _, err := c.Write(make([]byte, writeChunk+1)); err != nil {
		t.Fatal(err)
	}
	reply := make([]byte, len("+OK\r\n"))
	if _, err := io.ReadFull(c, reply); string(reply) != "+OK\r\n" || err != nil {
		t.Errorf("read %q, %v", reply, err)
	}
	if want := writeChunk + 1 + len("+OK\r\n"); carried != want {
		t.Errorf("carried %d bytes, want %d", carried, want)
	}
}

// pipe is a net.Conn that takes limit bytes and records deadlines.
type pipe struct {
	net.Conn
	got       bytes.Buffer
	limit     int
	deadlines []time.Time
}

var errFull = errors.New("full")

func (p *pipe) SetWriteDeadline(t time.Time) error {
	p.deadlines = append(p.deadlines, t)
	return nil
}

func (p *pipe) Write(b []byte) (int, error) {
	if room := p.limit - p.got.Len(); len(b) > room {
		n, _ := p.got.Write(b[:room])
		return n, errFull
	}
	return p.got.Write(b)
}

func TestSentCounts(t *testing.T) {
	t.Parallel()
	const hello = "*2\r\n$5\r\nhello\r\n$1\r\n3\r\n"
	for name, c := range map[string]struct {
		writes []string
		limit  int
		sent   int64
	}{
		"handshake":          {[]string{hello, "*2\r\n$6\r\nselect\r\n$1\r\n3\r\n", "*3\r\n$4\r\nAUTH\r\n"}, 1000, 0},
		"command":            {[]string{hello, "*2\r\n$3\r\nget\r\n$1\r\nk\r\n"}, 1000, 1},
		"one byte of it":     {[]string{hello, "*2\r\n$3\r\nget\r\n$1\r\nk\r\n"}, len(hello) + 1, 1},
		"no byte of it":      {[]string{hello, "*2\r\n$3\r\nget\r\n$1\r\nk\r\n"}, len(hello), 0},
		"value like hello":   {[]string{"*2\r\n$3\r\nset\r\n", hello}, 1000, 2},
		"way of a cluster":   {[]string{hello, "*2\r\n$7\r\ncluster\r\n$5\r\nslots\r\n"}, 1000, 0},
		"and then a command": {[]string{"*2\r\n$7\r\ncluster\r\n", "*2\r\n$3\r\nget\r\n"}, 1000, 1},
		"not a whole header": {[]string{"*2\r\n$5\r"}, 1000, 1},
		"no command at all":  {[]string{"hello\r\n\r\nhello\r\n"}, 1000, 1},
	} {
		p := &pipe{limit: c.limit}
		conn := &conn{Conn: p, dialer: &dialer{link: &link{carried: func(int) {}}}, idle: time.Minute}
		for _, w := range c.writes {
			_, _ = conn.Write([]byte(w))
		}
		if got := conn.sent.Load(); got != c.sent {
			t.Errorf("%s: counted %d, want %d", name, got, c.sent)
		}
	}
}

// A long write gets a new deadline for each part, and stops where it fails.
func TestLongWrite(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte("x"), 2*writeChunk+1)
	for limit, wantErr := range map[int]error{len(data): nil, writeChunk + 7: errFull} {
		p := &pipe{limit: limit}
		conn := &conn{Conn: p, dialer: &dialer{link: &link{carried: func(int) {}}}, idle: time.Minute}
		n, err := conn.Write(data)
		if n != limit || !errors.Is(err, wantErr) || !bytes.Equal(p.got.Bytes(), data[:limit]) {
			t.Errorf("limit %d: wrote %d, %v", limit, n, err)
		}
		if want := limit/writeChunk + 1; len(p.deadlines) != want {
			t.Errorf("limit %d: %d deadlines, want %d", limit, len(p.deadlines), want)
		}
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	now := time.Now()
	soon, late := now.Add(time.Second), now.Add(24*time.Hour)
	for name, c := range map[string]struct {
		conn conn
		set  time.Time
		want time.Time // or zero: about an hour from now
	}{
		"no deadline":          {conn{idle: time.Hour, stage: ready}, time.Time{}, time.Time{}},
		"a late deadline":      {conn{idle: time.Hour, stage: ready}, late, time.Time{}},
		"a sooner deadline":    {conn{idle: time.Hour, stage: ready}, soon, soon},
		"a past deadline":      {conn{idle: time.Hour, stage: ready}, time.Unix(1, 0), time.Unix(1, 0)},
		"the handshake":        {conn{idle: time.Hour, readyBy: soon}, late, soon},
		"waiting for messages": {conn{stage: asking}, late, late},
		"after the handshake":  {conn{idle: time.Hour, readyBy: soon, stage: ready}, late, time.Time{}},
	} {
		got := c.conn.deadline(c.set)
		if c.want.IsZero() && (got.Before(now.Add(time.Hour)) || got.After(now.Add(2*time.Hour))) || !c.want.IsZero() && !got.Equal(c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
