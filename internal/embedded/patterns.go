// Patterns of KEYS, SCAN and PSUBSCRIBE. miniredis turns them into regular
// expressions, and the whole process ends when that fails: on bytes that are
// no UTF-8, on character ranges that run backwards, on a literal backslash
// before an E.

package embedded

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// safePatterns returns the arguments of a command with patterns that
// miniredis can take, or nil when they are such already.
func safePatterns(cmd string, args []string) []string {
	safe := slices.Clone(args)
	switch cmd {
	case "KEYS", "PSUBSCRIBE":
		for i := range safe {
			safe[i] = safePattern(safe[i])
		}
	case "SCAN", "HSCAN", "SSCAN", "ZSCAN":
		for i := 1; i+1 < len(safe); i++ {
			if strings.EqualFold(safe[i], "MATCH") {
				safe[i+1] = safePattern(safe[i+1])
			}
		}
	}
	if slices.Equal(safe, args) {
		return nil
	}
	return safe
}

// safePattern returns a pattern that matches the same texts, except that any
// character matches where the pattern has a byte that is no UTF-8 or a class
// that is no class.
func safePattern(pattern string) string {
	var safe strings.Builder
	for rest := pattern; rest != ""; {
		token := firstToken(rest)
		rest = rest[len(token):]
		switch {
		case token == `\\`:
			safe.WriteString(`[\\]`)
		case !utf8.ValidString(token), token[0] == '[' && !isClass(token):
			safe.WriteByte('?')
		default:
			safe.WriteString(token)
		}
	}
	return safe.String()
}

// firstToken returns what the pattern starts with: a class, an escaped
// character or a character.
func firstToken(pattern string) string {
	switch pattern[0] {
	case '\\':
		if len(pattern) > 1 {
			_, n := utf8.DecodeRuneInString(pattern[1:])
			return pattern[:1+n]
		}
	case '[':
		for i := 1; i < len(pattern); i++ {
			switch pattern[i] {
			case '\\':
				i++
			case ']':
				return pattern[:i+1]
			}
		}
		return pattern
	}
	_, n := utf8.DecodeRuneInString(pattern)
	return pattern[:n]
}

// isClass tells whether miniredis can take a class, which may lack its end. An
// empty one matches nothing.
func isClass(token string) bool {
	class := strings.TrimSuffix(token[1:], "]")
	if class == "" {
		return true
	}
	_, err := regexp.Compile("[" + class + "]")
	return err == nil
}
