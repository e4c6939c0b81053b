package opaque

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatal(err)
	}
}

func unhex(t *testing.T, s string) string {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func parseInt(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestMemberGolden(t *testing.T) {
	t.Parallel()
	var golden struct {
		Members []struct {
			Name        string
			Key         string
			Row         string
			ValueHex    string `json:"value_hex"`
			ValueRepeat struct {
				Byte  byte
				Count int
			} `json:"value_repeat"`
			Version      string
			ExpiresAtMS  string `json:"expires_at_ms"`
			Tombstone    bool
			MemberHex    string `json:"member_hex"`
			MemberSHA256 string `json:"member_sha256"`
		}
	}
	readJSON(t, "opaque-members.json", &golden)
	if len(golden.Members) == 0 {
		t.Fatal("no golden members")
	}
	keys, err := NewKeys("app")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range golden.Members {
		t.Run(g.Name, func(t *testing.T) {
			t.Parallel()
			want := Member{
				Key:       g.Key,
				Value:     unhex(t, g.ValueHex) + strings.Repeat(string(rune(g.ValueRepeat.Byte)), g.ValueRepeat.Count),
				Version:   g.Version,
				ExpiresAt: parseInt(t, g.ExpiresAtMS),
				Tombstone: g.Tombstone,
			}
			encoded := want.Append(nil)
			if g.MemberHex != "" && hex.EncodeToString(encoded) != g.MemberHex {
				t.Errorf("encoded %x, want %s", encoded, g.MemberHex)
			}
			if sum := sha256.Sum256(encoded); g.MemberSHA256 != "" && hex.EncodeToString(sum[:]) != g.MemberSHA256 {
				t.Errorf("encoded to SHA-256 %x, want %s", sum, g.MemberSHA256)
			}
			got, err := DecodeMember(string(encoded))
			if err != nil || got != want {
				t.Errorf("decoded %+v, %v, want %+v", got, err, want)
			}
			if row := "app:{zlink-location-v3}:opaque:" + g.Row; keys.Row(g.Key) != row {
				t.Errorf("row key %s, want %s", keys.Row(g.Key), row)
			}
		})
	}
}

func TestDecodeMemberRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hex  string
		want error
	}{
		"empty":              {"", ErrUnknownTag},
		"untagged layout":    {"95a16ba176a13100c2", ErrUnknownTag},
		"unknown tag":        {"0295a16ba176a13100c2", ErrUnknownTag},
		"tag alone":          {"01", ErrMalformed},
		"array of four":      {"0194a16ba176a13100", ErrMalformed},
		"array16":            {"01dc0005a16ba176a13100c2", ErrMalformed},
		"value of bin":       {"0195a16bc40176a13100c2", ErrMalformed},
		"version a number":   {"0195a16ba1760100c2", ErrMalformed},
		"expiry negative":    {"0195a16ba176a131ffc2", ErrMalformed},
		"expiry signed":      {"0195a16ba176a131d001c2", ErrMalformed},
		"expiry a float":     {"0195a16ba176a131cb3ff0000000000000c2", ErrMalformed},
		"tombstone a number": {"0195a16ba176a1310000", ErrMalformed},
		"tombstone nil":      {"0195a16ba176a13100c0", ErrMalformed},
		"cut off":            {"0195a16ba176a13100", ErrMalformed},
		"value cut off":      {"0195a16bdb00100000aa", ErrMalformed},
		"trailing byte":      {"0195a16ba176a13100c200", ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if m, err := DecodeMember(unhex(t, c.hex)); !errors.Is(err, c.want) {
				t.Errorf("decoded %+v, %v, want %v", m, err, c.want)
			}
		})
	}
}

func TestMemberRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := Member{
			Key:       string(rapid.SliceOfN(rapid.Byte(), 0, MaxKeyBytes).Draw(t, "key")),
			Value:     string(rapid.SliceOf(rapid.Byte()).Draw(t, "value")),
			Version:   string(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "version")),
			ExpiresAt: rapid.Int64Min(0).Draw(t, "expiry"),
			Tombstone: rapid.Bool().Draw(t, "tombstone"),
		}
		encoded := string(want.Append(nil))
		got, err := DecodeMember(encoded)
		if err != nil || got != want {
			t.Fatalf("decoded %+v, %v, want %+v", got, err, want)
		}
		cut := rapid.IntRange(0, len(encoded)-1).Draw(t, "cut")
		if m, err := DecodeMember(encoded[:cut]); err == nil {
			t.Fatalf("decoded %+v from %d of %d bytes", m, cut, len(encoded))
		}
	})
}

func FuzzDecodeMember(f *testing.F) {
	f.Add([]byte("\x01\x95\xa1k\xa1v\xa11\x00\xc2"))
	f.Add([]byte("\x01\x95\xd9\x01k\xda\x00\x01v\xdb\x00\x00\x00\x011\xcf\x00\x00\x01\xa2\x33\x5b\xa5\x0c\xc3"))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := DecodeMember(string(in))
		if err != nil {
			return
		}
		encoded := m.Append(nil)
		again, err := DecodeMember(string(encoded))
		if err != nil || again != m {
			t.Fatalf("%x decoded to %+v, which encodes to %x", in, m, encoded)
		}
		if len(encoded) == len(in) && !bytes.Equal(encoded, in) {
			t.Fatalf("%x encodes back as %x", in, encoded)
		}
	})
}
