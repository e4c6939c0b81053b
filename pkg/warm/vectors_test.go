package warm_test

// The golden keyspace: laid into a server and read back.

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

type golden struct {
	Keyspace []struct {
		Key    string
		Type   string
		Fields []struct {
			Field    string
			ValueHex string `json:"value_hex"`
		}
		Members []struct {
			MemberHex string `json:"member_hex"`
			Score     string
		}
	}
	Rows []struct {
		Prefix    string
		Namespace *string
		Segment   string
		Chunk     uint16
		Token     string
		ValueHex  string `json:"value_hex"`
	}
}

func readJSON(t testing.TB, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func unhex(t testing.TB, digits string) string {
	t.Helper()
	b, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// lay writes the keyspace as it was left by the reference driver.
func (g golden) lay(t *testing.T, rdb *redis.Client) {
	t.Helper()
	for _, k := range g.Keyspace {
		for _, f := range k.Fields {
			rdb.HSet(t.Context(), k.Key, f.Field, unhex(t, f.ValueHex))
		}
		for _, m := range k.Members {
			score, err := strconv.ParseFloat(m.Score, 64)
			if err != nil {
				t.Fatal(err)
			}
			rdb.ZAdd(t.Context(), k.Key, redis.Z{Score: score, Member: unhex(t, m.MemberHex)})
		}
		if got := rdb.Type(t.Context(), k.Key).Val(); got != k.Type {
			t.Fatalf("%s is a %s, want a %s", k.Key, got, k.Type)
		}
	}
}

func TestGoldenKeyspaceIsReadBack(t *testing.T) {
	t.Parallel()
	var g golden
	readJSON(t, "testdata/warm-keyspace.json", &g)
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb := s.Client(t)
		g.lay(t, rdb)
		listed := map[string][]warm.Chunk{}
		for _, prefix := range []string{"app", ""} {
			store := open(t, rdb, prefix)
			for info, err := range store.Segments(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				for chunk, err := range store.List(t.Context(), info.Segment, warm.ListOptions{Payload: true}) {
					if err != nil {
						t.Fatal(err)
					}
					listed[prefix] = append(listed[prefix], chunk)
				}
			}
		}
		if got := len(listed["app"]) + len(listed[""]); got != len(g.Rows) {
			t.Errorf("listed %d chunks, want %d", got, len(g.Rows))
		}
		for _, row := range g.Rows {
			seg := warm.Segment{Name: row.Segment}
			if row.Namespace != nil {
				seg.Namespace = *row.Namespace
			}
			got, err := open(t, rdb, row.Prefix).Get(t.Context(), seg, row.Chunk)
			if err != nil || got.Token != row.Token || string(got.Payload) != unhex(t, row.ValueHex) {
				t.Errorf("chunk %d of %s: %+v, %v, want %+v", row.Chunk, seg, got, err, row)
			}
			same := func(c warm.Chunk) bool {
				return c.Segment == seg && c.Number == row.Chunk && c.Token == row.Token && string(c.Payload) == string(got.Payload)
			}
			if !slices.ContainsFunc(listed[row.Prefix], same) {
				t.Errorf("chunk %d of %s is not listed", row.Chunk, seg)
			}
		}
	})
}

// TestOurKeysAreTheGoldenOnes writes the golden rows anew and compares keys,
// fields and index, all but the tokens.
func TestOurKeysAreTheGoldenOnes(t *testing.T) {
	t.Parallel()
	var g golden
	readJSON(t, "testdata/warm-keyspace.json", &g)
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb := s.Client(t)
		ctx := t.Context()
		for _, row := range g.Rows {
			seg := warm.Segment{Name: row.Segment}
			if row.Namespace != nil {
				seg.Namespace = *row.Namespace
			}
			if _, err := open(t, rdb, row.Prefix).Create(ctx, seg, row.Chunk, []byte(unhex(t, row.ValueHex))); err != nil {
				t.Fatal(err)
			}
		}
		if n := rdb.DBSize(ctx).Val(); n != int64(len(g.Keyspace)) {
			t.Errorf("%d keys, want %d", n, len(g.Keyspace))
		}
		for _, k := range g.Keyspace {
			if ttl := rdb.PTTL(ctx, k.Key).Val(); ttl != -1 {
				t.Errorf("%s has TTL %v, want none", k.Key, ttl)
			}
			fields := rdb.HGetAll(ctx, k.Key).Val()
			for _, f := range k.Fields {
				if f.Field != "t" && fields[f.Field] != unhex(t, f.ValueHex) {
					t.Errorf("%s field %s is %x, want %s", k.Key, f.Field, fields[f.Field], f.ValueHex)
				}
			}
			if k.Type == "hash" && len(fields) != len(k.Fields) {
				t.Errorf("%s has fields %v, want %d of them", k.Key, fields, len(k.Fields))
			}
			for _, m := range k.Members {
				score, err := rdb.ZScore(ctx, k.Key, unhex(t, m.MemberHex)).Result()
				if err != nil || strconv.FormatFloat(score, 'f', -1, 64) != m.Score {
					t.Errorf("%s holds %s with %v, %v, want %s", k.Key, m.MemberHex, score, err, m.Score)
				}
			}
		}
	})
}
