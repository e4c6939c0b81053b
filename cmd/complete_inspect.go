// Completion of raw keys of Redis.

package cmd

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

// inspectCandidates are the keys of the application with --logical, and else
// those of Redis that a versioned store has one of each: nobody types others.
func inspectCandidates(ctx context.Context, f *Factory, flags *pflag.FlagSet, word string) []string {
	if logical, err := flags.GetBool("logical"); err == nil && logical {
		return keyCandidates(ctx, f, flags, word)
	}
	format, begin, err := f.typed(word)
	if err != nil {
		return nil
	}
	prefix, err := f.prefix()
	if err != nil {
		return nil
	}
	keys, err := opaque.NewKeys(prefix)
	if err != nil {
		return nil
	}
	var words []string
	for _, key := range []string{keys.Cleanup(), keys.Index(), keys.Map(), keys.Sequence(), keys.SnapshotBoundary(), keys.SnapshotExpiry()} {
		if text, ok := asWord(format, key); ok && strings.HasPrefix(key, begin) && strings.HasPrefix(text, word) {
			words = append(words, text)
		}
	}
	return words
}
