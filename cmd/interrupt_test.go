package cmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
)

// stuck is a stream that blocks until it is let go.
type stuck chan struct{}

func (s stuck) Read([]byte) (int, error)  { <-s; return 0, io.EOF }
func (s stuck) Write([]byte) (int, error) { <-s; return 0, io.ErrShortWrite }

func TestStreamsPassOn(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("text", 100_000)
	got, err := io.ReadAll(&input{Reader: strings.NewReader(text), ctx: t.Context()})
	if err != nil || string(got) != text {
		t.Errorf("read %d bytes, %v; want %d", len(got), err, len(text))
	}
	var written bytes.Buffer
	out := &output{Writer: &written, ctx: t.Context()}
	if n, err := io.WriteString(out, text); err != nil || n != len(text) || written.String() != text || out.err != nil {
		t.Errorf("wrote %d bytes, %v, %v; want %d", n, err, out.err, len(text))
	}
}

func TestStreamsEndWithTheirContext(t *testing.T) {
	t.Parallel()
	block := make(stuck)
	defer close(block)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	out := &output{Writer: block, ctx: ctx}
	go func() { _, err := (&input{Reader: block, ctx: ctx}).Read(make([]byte, 1)); ended <- err }()
	go func() { _, err := out.Write([]byte("x")); ended <- err }()
	cancel()
	for range 2 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want canceled", err)
		}
	}
	if !errors.Is(out.err, context.Canceled) {
		t.Errorf("the output remembers %v", out.err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestOutputTellsReaderGone(t *testing.T) {
	t.Parallel()
	out := &output{Writer: broken{}, ctx: t.Context()}
	if _, err := out.Write([]byte("x")); !errors.As(err, new(readerGone)) || !errors.Is(err, syscall.EPIPE) {
		t.Errorf("error %v, want that the reader is gone", err)
	}
}

func TestShellQuote(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"":         "''",
		"plain-7.": "plain-7.",
		"a b":      "'a b'",
		`mesh\0eu`: `'mesh\0eu'`,
		"it's":     `'it'\''s'`,
		"$HOME":    "'$HOME'",
		"日本":       "'日本'",
		"--":       "'--'",
	} {
		if got := shellQuote(word); got != want {
			t.Errorf("shellQuote(%q) = %s, want %s", word, got, want)
		}
	}
}
