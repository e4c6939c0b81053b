// Lines of a file or of the standard input: many keys or rows at once.

package cmd

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/keyspacectl/keyspacectl/pkg/bulk"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// maxLineBytes is what the longest row may take as JSON: its strings may be
// escaped to six times their size.
const maxLineBytes = 8 * opaque.MaxValueBytes

// linesOf yields what parse makes of each line, without the line feed at its
// end, and the number of the line. The first error, which names the line, is
// the last thing yielded.
func linesOf[T any](r io.Reader, parse func(line []byte) (T, error)) iter.Seq2[numbered[T], error] {
	return func(yield func(numbered[T], error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxLineBytes)
		lines.Split(splitLines)
		for number := int64(1); ; number++ {
			if !lines.Scan() {
				if err := lines.Err(); err != nil {
					yield(numbered[T]{line: number}, lineError(number, err))
				}
				return
			}
			item, err := parse(lines.Bytes())
			if err != nil {
				err = lineError(number, err)
			}
			if !yield(numbered[T]{number, item}, err) || err != nil {
				return
			}
		}
	}
}

// numbered is a thing, and the line that it stands in, counted from 1.
type numbered[T any] struct {
	line int64
	item T
}

// splitLines splits at line feeds and nothing else: a carriage return may be
// the end of a key.
func splitLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if at := bytes.IndexByte(data, '\n'); at >= 0 {
		return at + 1, data[:at], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

func lineError(number int64, err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		err = storeerr.New(storeerr.Invalid, "it has more than %d bytes", maxLineBytes)
	}
	return fmt.Errorf("line %d: %w", number, err)
}

// keysFrom is where a command takes many keys from.
type keysFrom struct {
	file   string
	ndjson bool
}

func (k *keysFrom) register(c *cobra.Command) {
	c.Flags().StringVar(&k.file, "keys-from", "", "take the keys from this `FILE`, one a line in the key format; - is the standard input")
	c.Flags().BoolVar(&k.ndjson, "ndjson", false, "each line of --keys-from is a JSON object with key or key_base64")
}

// check refuses keys from two places, and from none.
func (k *keysFrom) check(c *cobra.Command, args []string) error {
	switch from := c.Flags().Changed("keys-from"); {
	case from && len(args) > 0:
		return storeerr.New(storeerr.Invalid, "name keys or --keys-from, not both")
	case k.ndjson && !from:
		return storeerr.New(storeerr.Invalid, "--ndjson is for --keys-from")
	}
	return nil
}

// parse reads the key of a line.
func (k *keysFrom) parse(f *Factory, line []byte) (string, error) {
	key, err := k.bytes(f, line)
	if err != nil {
		return "", err
	}
	return key, opaque.Delete(key).Check()
}

func (k *keysFrom) bytes(f *Factory, line []byte) (string, error) {
	if !k.ndjson {
		if bytes.HasSuffix(line, []byte("\r")) {
			return "", storeerr.New(storeerr.Invalid, "it ends in a carriage return").
				WithHint("lines end in a line feed alone; a key that ends so goes into JSON: --ndjson")
		}
		return f.key(string(line))
	}
	var row rowJSON
	if err := row.read(line); err != nil {
		return "", err
	}
	key, err := exactlyOne("key", row.Key, row.KeyBase64)
	if err != nil {
		return "", storeerr.New(storeerr.Invalid, "%w", err)
	}
	return key, nil
}

// items are lines as bulk takes them.
func items[T any](lines iter.Seq2[numbered[T], error], mutation func(T) opaque.Mutation) iter.Seq2[bulk.Item, error] {
	return func(yield func(bulk.Item, error) bool) {
		for l, err := range lines {
			item := bulk.Item{Line: l.line}
			if err == nil {
				item.Mutation = mutation(l.item)
			}
			if !yield(item, err) {
				return
			}
		}
	}
}

// stoppedAt is the error of a bulk write that stopped: where something was done
// before it, it counts that and says where to go on.
func stoppedAt(err error, r bulk.Result, dryRun bool, did, file, command string) error {
	if dryRun || r.Line == 0 {
		return err
	}
	if file == "-" {
		file = "FILE"
	}
	if strings.ContainsAny(file, " '\"$`\\") {
		file = "'" + strings.ReplaceAll(file, "'", `'\''`) + "'"
	}
	if errors.Is(err, storeerr.UnknownOutcome) {
		return storeerr.New(storeerr.UnknownOutcome, "%s, up to line %d; what became of the batch behind that is not known: %w", did, r.Line, err).
			WithHint("read the key of line %d; where it is not as the line says: tail -n +%[1]d %s | keyspacectl %s -, with the other flags as they were", r.Line+1, file, command)
	}
	return storeerr.New(storeerr.Partial, "%s, up to line %d; go on at line %d: %w", did, r.Line, r.Line+1, err).
		WithHint("tail -n +%d %s | keyspacectl %s -, with the other flags as they were", r.Line+1, file, command)
}
