package blob_test

// The golden keyspace: laid into a server and read back, and made again.

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

type golden struct {
	Prefix string
	Steps  []struct {
		Op          string
		Reference   string
		ValueHex    string `json:"value_hex"`
		RetentionMs int64  `json:"retention_ms"`
		Kind        string
	}
	Keyspace []struct {
		Key        string
		ExpireAtMs string `json:"expire_at_ms"`
		ValueHex   string `json:"value_hex"`
	}
}

func readGolden(t *testing.T) golden {
	t.Helper()
	text, err := os.ReadFile("testdata/blob-keyspace.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func unhex(t *testing.T, digits string) []byte {
	t.Helper()
	b, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGoldenKeyspaceIsReadBack(t *testing.T) {
	t.Parallel()
	g := readGolden(t)
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb := s.Client(t)
		store := open(t, rdb, g.Prefix)
		for _, k := range g.Keyspace {
			if err := rdb.Do(t.Context(), "SET", k.Key, unhex(t, k.ValueHex), "PXAT", k.ExpireAtMs).Err(); err != nil {
				t.Fatal(err)
			}
		}
		listed := 0
		for info, err := range store.List(t.Context(), "") {
			if err != nil {
				t.Fatal(err)
			}
			listed++
			got, err := store.Read(t.Context(), info.Reference)
			if err != nil {
				t.Fatal(err)
			}
			i := 0
			for ; i < len(g.Keyspace) && g.Keyspace[i].Key != store.Key(info.Reference); i++ {
			}
			want := g.Keyspace[i]
			if string(got.Payload) != string(unhex(t, want.ValueHex)) {
				t.Errorf("%q holds %x, want %s", info.Reference, got.Payload, want.ValueHex)
			}
			expiry, err := strconv.ParseInt(want.ExpireAtMs, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			// An embedded server counts TTLs down in steps of its own clock.
			if d := got.ExpiresAt - expiry; d < -30_000 || d > 30_000 {
				t.Errorf("%q expires at %d, want %d", info.Reference, got.ExpiresAt, expiry)
			}
		}
		if listed != len(g.Keyspace) {
			t.Errorf("listed %d blobs, want %d", listed, len(g.Keyspace))
		}
	})
}

func TestGoldenStepsAreRepeated(t *testing.T) {
	t.Parallel()
	g := readGolden(t)
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb := s.Client(t)
		store := open(t, rdb, g.Prefix)
		for i, step := range g.Steps {
			if got := repeat(t, store, step.Op, step.Reference, unhex(t, step.ValueHex), step.RetentionMs); got != step.Kind {
				t.Errorf("step %d, %s %q: %s, want %s", i, step.Op, step.Reference, got, step.Kind)
			}
		}
		if n := rdb.DBSize(t.Context()).Val(); n != int64(len(g.Keyspace)) {
			t.Errorf("%d keys, want %d", n, len(g.Keyspace))
		}
		for _, k := range g.Keyspace {
			got, err := rdb.Get(t.Context(), k.Key).Bytes()
			if err != nil || string(got) != string(unhex(t, k.ValueHex)) {
				t.Errorf("%s holds %x, %v, want %s", k.Key, got, err, k.ValueHex)
			}
			if ttl := rdb.Do(t.Context(), "PTTL", k.Key).Val(); ttl == int64(-1) {
				t.Errorf("%s has no expiry", k.Key)
			}
		}
	})
}

// repeat runs a step and returns the kind of result in the words of the data.
func repeat(t *testing.T, store *blob.Store, op, reference string, value []byte, retention int64) string {
	t.Helper()
	var result blob.Result
	var err error
	switch op {
	case "put":
		result, err = store.Put(t.Context(), reference, value, retention)
	case "renew":
		result, err = store.Renew(t.Context(), reference, 630720000000)
	case "read":
		var got blob.Blob
		if got, err = store.Read(t.Context(), reference); err == nil {
			if string(got.Payload) != string(value) {
				t.Errorf("read %q: %x, want %x", reference, got.Payload, value)
			}
			return "found"
		}
	default:
		t.Fatalf("unknown step %q", op)
	}
	switch storeerr.KindOf(err) {
	case storeerr.Conflict:
		return "conflict"
	case storeerr.NotFound:
		return "missing"
	case "":
	default:
		t.Fatal(err)
	}
	return map[blob.Outcome]string{blob.Stored: "stored", blob.AlreadyStored: "alreadyStored", blob.Renewed: "renewed"}[result.Outcome]
}
