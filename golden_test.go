// The golden keyspaces of the blob and the warm store, laid into a server and
// read back by the commands.

package main_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/cmd"
	"github.com/keyspacectl/keyspacectl/internal/testserver"
)

// goldenKey is a key as the reference drivers left it.
type goldenKey struct {
	Key        string
	ExpireAtMs int64  `json:"expire_at_ms,string"`
	ValueHex   string `json:"value_hex"`
	Fields     []struct {
		Field    string
		ValueHex string `json:"value_hex"`
	}
	Members []struct {
		MemberHex string  `json:"member_hex"`
		Score     float64 `json:",string"`
	}
}

func readGolden(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// lay writes a keyspace into a server.
func lay(t *testing.T, s testserver.Server, keys []goldenKey) {
	t.Helper()
	_, err := s.Client(t).Pipelined(t.Context(), func(p redis.Pipeliner) error {
		for _, k := range keys {
			for _, f := range k.Fields {
				p.HSet(t.Context(), k.Key, f.Field, unhex(t, f.ValueHex))
			}
			for _, m := range k.Members {
				p.ZAdd(t.Context(), k.Key, redis.Z{Member: unhex(t, m.MemberHex), Score: m.Score})
			}
			if k.ExpireAtMs > 0 {
				p.Set(t.Context(), k.Key, unhex(t, k.ValueHex), 0)
				p.PExpireAt(t.Context(), k.Key, time.UnixMilli(k.ExpireAtMs))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func unhex(t *testing.T, digits string) []byte {
	t.Helper()
	b, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// execute runs a command line within this process, and returns what it prints
// and its exit status.
func execute(t *testing.T, s testserver.Server, args ...string) (out, errs string, status int) {
	t.Helper()
	var outBuffer, errBuffer bytes.Buffer
	env := map[string]string{
		"KEYSPACECTL_URL":     s.URL,
		"KEYSPACECTL_TIMEOUT": "1m", // the machine may be busy
		"XDG_CONFIG_HOME":     t.TempDir(),
	}
	f := &cmd.Factory{In: strings.NewReader(""), Out: &outBuffer, Err: &errBuffer, Getenv: func(name string) string { return env[name] }}
	status = f.Run(t.Context(), args)
	return outBuffer.String(), errBuffer.String(), status
}

// run runs a command line that must be done without a word on the standard
// error, and returns what it prints.
func run(t *testing.T, s testserver.Server, args ...string) string {
	t.Helper()
	out, errs, status := execute(t, s, args...)
	if status != 0 || errs != "" {
		t.Errorf("%q: exit status %d, %s", args, status, errs)
	}
	return out
}

// shown is a result in JSON, as far as this file asks.
type shown struct {
	Reference   string
	Namespace   *string
	Segment     string
	Chunk       int
	Token       string
	Size        int
	Value       *string
	ValueBase64 *string   `json:"value_base64"`
	ExpiresAt   time.Time `json:"expires_at"`
}

func parse[T any](t *testing.T, text string) (result T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &result); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return result
}

func (s shown) bytes(t *testing.T) string {
	t.Helper()
	if (s.Value == nil) == (s.ValueBase64 == nil) {
		t.Fatalf("%+v has not one value", s)
	}
	if s.Value != nil {
		return *s.Value
	}
	value, err := base64.StdEncoding.DecodeString(*s.ValueBase64)
	if err != nil {
		t.Fatal(err)
	}
	return string(value)
}

func TestGoldenBlobs(t *testing.T) {
	t.Parallel()
	var golden struct {
		Prefix   string
		Keyspace []goldenKey
	}
	readGolden(t, "pkg/blob/testdata/blob-keyspace.json", &golden)
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		lay(t, s, golden.Keyspace)
		listed := map[string]shown{}
		for _, b := range parse[[]shown](t, run(t, s, "blob", "list", "--prefix", golden.Prefix, "-o", "json")) {
			listed[b.Reference] = b
		}
		if len(listed) != len(golden.Keyspace) {
			t.Errorf("listed %d blobs, want %d", len(listed), len(golden.Keyspace))
		}
		for _, k := range golden.Keyspace {
			reference := strings.TrimPrefix(k.Key, golden.Prefix+":{zlink-relocation-v1}:blob:")
			want := string(unhex(t, k.ValueHex))
			if got := run(t, s, "blob", "read", reference, "--prefix", golden.Prefix); got != want {
				t.Errorf("%q: raw %q, want %q", reference, got, want)
			}
			read := parse[shown](t, run(t, s, "blob", "read", reference, "--prefix", golden.Prefix, "-o", "json"))
			if read.bytes(t) != want || read.Reference != reference {
				t.Errorf("%q: %+v, want %q", reference, read, want)
			}
			for _, b := range []shown{read, listed[reference]} {
				// The server's time and what is left of a life are two readings,
				// as far apart as a busy machine lets them be.
				if off := b.ExpiresAt.UnixMilli() - k.ExpireAtMs; b.Size != len(want) || off < -60_000 || off > 1 {
					t.Errorf("%q: size %d, expiry off by %d ms", reference, b.Size, off)
				}
			}
		}
	})
}

func TestGoldenChunks(t *testing.T) {
	t.Parallel()
	var golden struct {
		Keyspace []goldenKey
		Rows     []struct {
			Prefix    string
			Namespace *string
			Segment   string
			Chunk     int
			Token     string
			ValueHex  string `json:"value_hex"`
		}
	}
	readGolden(t, "pkg/warm/testdata/warm-keyspace.json", &golden)
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		lay(t, s, golden.Keyspace)
		for _, row := range golden.Rows {
			flags := []string{"--prefix", row.Prefix}
			if row.Namespace != nil {
				flags = append(flags, "--namespace", *row.Namespace)
			}
			want := string(unhex(t, row.ValueHex))
			read := append([]string{"warm", "read", row.Segment, strconv.Itoa(row.Chunk)}, flags...)
			if got := run(t, s, read...); got != want {
				t.Errorf("%+v: raw %q", row, got)
			}
			found := parse[[]shown](t, run(t, s, append([]string{"warm", "list", row.Segment, "--payload", "-o", "json"}, flags...)...))
			found = append(found, parse[shown](t, run(t, s, append(read, "-o", "json")...)))
			matches := 0
			for _, c := range found {
				if c.Chunk != row.Chunk {
					continue
				}
				matches++
				sameNamespace := (c.Namespace == nil) == (row.Namespace == nil) && (c.Namespace == nil || *c.Namespace == *row.Namespace)
				if c.Segment != row.Segment || !sameNamespace || c.Token != row.Token || c.Size != len(want) || c.bytes(t) != want {
					t.Errorf("%+v, want %+v", c, row)
				}
			}
			if matches != 2 {
				t.Errorf("%+v: listed and read %d times, want 2", row, matches)
			}
		}
		if got, want := run(t, s, "warm", "segments", "--prefix", "app"), "\tusers\t2\neu\tusers\t1\n"; got != want {
			t.Errorf("segments of app: %q, want %q", got, want)
		}
		if got, want := run(t, s, "warm", "segments"), "\tnoprefix\t1\n"; got != want {
			t.Errorf("segments without a prefix: %q, want %q", got, want)
		}
	})
}
