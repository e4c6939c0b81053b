// Tests of patterns: what Redis finds, and no pattern ends the server.
package embedded_test

import (
	"reflect"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
)

// TestEscapedPatterns finds keys with the special characters of patterns by
// escaping them.
func TestEscapedPatterns(t *testing.T) {
	t.Parallel()
	special := regexp.MustCompile(`[][*?\\^]`)
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		c, ctx := s.Client(t), t.Context()
		keys := []string{`p:{tag}:x`, `p:a*b`, `p:a?b`, `p:a[b]`, `p:a\b`, `p:\E`, `p:axb`, `p:^`, "p:\x00\xff", "p:é"}
		for _, key := range keys {
			must(t, c.Set(ctx, key, "v", 0))
		}
		for _, key := range keys {
			var found []string
			all := c.Scan(ctx, 0, special.ReplaceAllString(key, `\$0`), 3).Iterator()
			for all.Next(ctx) {
				found = append(found, all.Val())
			}
			if !reflect.DeepEqual(found, []string{key}) || all.Err() != nil {
				t.Errorf("SCAN for %q found %q, %v", key, found, all.Err())
			}
		}
	})
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	keys := []string{"a", "ab", "abc", "a-c", `a\Ec`, "a]c", "b", "^"}
	tests := []struct {
		pattern string
		want    []string
	}{
		{"a*", []string{"a", "a-c", `a\Ec`, "a]c", "ab", "abc"}},
		{"a?c", []string{"a-c", "a]c", "abc"}},
		{`a\\E*`, []string{`a\Ec`}},
		{"a[a-d]c", []string{"abc"}},
		{"a[^a-d]c", []string{"a-c", "a]c"}},
		{`a[\]-]c`, []string{"a-c", "a]c"}},
		{`\a\b`, []string{"ab"}},
		{"[]", nil},
		{"x\xff*", nil},
	}
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		c, ctx := s.Client(t), t.Context()
		for _, key := range keys {
			must(t, c.Set(ctx, key, "v", 0))
			must(t, c.HSet(ctx, "{hash}", key, "v"))
		}
		for _, tt := range tests {
			found := c.Keys(ctx, tt.pattern).Val()
			slices.Sort(found)
			if !slices.Equal(found, tt.want) {
				t.Errorf("KEYS %q found %q, want %q", tt.pattern, found, tt.want)
			}
			fields, _, err := c.HScan(ctx, "{hash}", 0, tt.pattern, 1000).Result()
			if len(fields) != 2*len(tt.want) || err != nil {
				t.Errorf("HSCAN %q found %q, %v, want %q", tt.pattern, fields, err, tt.want)
			}
		}
	})
}

func TestNoPatternEndsTheServer(t *testing.T) {
	t.Parallel()
	c := testserver.Embedded(t).Client(t)
	ctx := t.Context()
	must(t, c.Set(ctx, "k", "v", 0), c.SAdd(ctx, "s", "v"), c.HSet(ctx, "h", "f", "v"), c.Do(ctx, "ZADD", "z", 1, "m"))
	for _, pattern := range []string{"[z-a]", "\xff", `\\E`, "[[:x:]]", "[", "[^", `[\`, `\`, "a[\xff]", `[\Q]`, `[\E]`, `[\p]`} {
		must(t, c.Scan(ctx, 0, pattern, 10), c.Keys(ctx, pattern), c.SScan(ctx, "s", 0, pattern, 10),
			c.HScan(ctx, "h", 0, pattern, 10), c.ZScan(ctx, "z", 0, pattern, 10))
	}
	rapid.Check(t, func(rt *rapid.T) {
		pattern := rapid.OneOf(
			rapid.StringOf(rapid.SampledFrom([]rune(`[]^-\*?EQaz:`))),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		).Draw(rt, "pattern")
		if err := c.Keys(ctx, pattern).Err(); err != nil {
			rt.Fatal(err)
		}
	})
}
