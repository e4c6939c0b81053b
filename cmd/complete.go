// Completion of arguments and flags, as the shell scripts of the command
// completion ask for it. What goes wrong here completes to nothing: there is
// nobody to tell.

package cmd

import (
	"context"
	"encoding/hex"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/keyspacectl/keyspacectl/internal/config"
	"github.com/keyspacectl/keyspacectl/internal/keyformat"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

const (
	completionTime  = 700 * time.Millisecond // a shell waits for us, and somebody for the shell
	completionItems = 50
)

// candidates returns what the word that is being typed may become.
type candidates func(ctx context.Context, f *Factory, flags *pflag.FlagSet, word string) []string

// addCompletions adds completion to the flags and arguments of a tree that
// have one. All other arguments are left to the shell, as names of files.
func addCompletions(root *cobra.Command, f *Factory) {
	for _, s := range config.All() {
		if len(s.Choices) > 0 && root.PersistentFlags().Lookup(s.Name) != nil {
			// It fails only for a flag that does not exist or has one already.
			_ = root.RegisterFlagCompletionFunc(s.Name, cobra.FixedCompletions(s.Choices, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	_ = root.RegisterFlagCompletionFunc("context", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return contextCandidates(f.ctx, f, nil, ""), cobra.ShellCompDirectiveNoFileComp
	})
	complete(root, f, keyCandidates, 1, "put", "history", "scan", "stats")
	complete(root, f, keyCandidates, opaque.MaxBatchKeys, "read", "delete")
	complete(root, f, inspectCandidates, opaque.MaxBatchKeys, "inspect")
	complete(root, f, scriptCandidates, 1, "scripts show")
	complete(root, f, contextCandidates, 1, "config use", "config show")
	complete(root, f, settingCandidates, 1, "config set", "config unset")
	complete(root, f, blobCandidates, 1, "blob read", "blob renew", "blob delete", "blob stat")
	complete(root, f, segmentCandidates, 1, "warm list", "warm read", "warm cas", "warm delete")
}

// complete gives the first arguments of commands their candidates.
func complete(root *cobra.Command, f *Factory, find candidates, arguments int, paths ...string) {
	for _, path := range paths {
		c, rest, err := root.Find(strings.Fields(path))
		if err != nil || len(rest) > 0 {
			continue
		}
		c.ValidArgsFunction = func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) >= arguments {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			ctx, cancel := context.WithTimeout(f.ctx, completionTime)
			defer cancel()
			f.ctx = ctx // bounds what the factory opens, too
			return find(ctx, f, c.Flags(), word), cobra.ShellCompDirectiveNoFileComp
		}
	}
}

// keyCandidates are keys of the versioned store, read live: a shell must not
// open snapshots.
func keyCandidates(ctx context.Context, f *Factory, _ *pflag.FlagSet, word string) []string {
	format, prefix, err := f.typed(word)
	if err != nil {
		return nil
	}
	store, err := f.opaque(reads)
	if err != nil {
		return nil
	}
	var words []string
	for row, err := range store.Scan(ctx, opaque.ScanOptions{Prefix: prefix, Live: true, PageSize: completionItems}) {
		if err != nil || len(words) == completionItems {
			break
		}
		if text, ok := asWord(format, row.Key); ok && strings.HasPrefix(text, word) {
			words = append(words, text)
		}
	}
	return words
}

// typed is what of a key has been typed, and in which key format.
func (f *Factory) typed(word string) (format, prefix string, err error) {
	s, err := f.Settings()
	if err != nil {
		return "", "", err
	}
	prefix, err = keyformat.Parse(s.KeyFormat, word)
	return s.KeyFormat, prefix, err
}

// asWord writes a key as an argument in a key format, if it can stand there.
func asWord(format, key string) (string, bool) {
	switch format {
	case keyformat.Escaped:
		return keyformat.Escape(key), true
	case keyformat.Hex:
		return hex.EncodeToString([]byte(key)), true
	case keyformat.Literal:
		return key, utf8.ValidString(key) && !strings.ContainsFunc(key, keyformat.Unsafe)
	}
	return "", false
}

func contextCandidates(_ context.Context, f *Factory, _ *pflag.FlagSet, _ string) []string {
	contexts, err := f.contexts()
	if err != nil {
		return nil
	}
	return contexts.Names()
}

func settingCandidates(context.Context, *Factory, *pflag.FlagSet, string) []string {
	return config.ContextKeys()
}

func scriptCandidates(context.Context, *Factory, *pflag.FlagSet, string) []string {
	var words []string
	for _, s := range luascripts.All() {
		words = append(words, s.Name+"\t"+scriptRecord{Script: s}.purpose())
	}
	return words
}

func blobCandidates(ctx context.Context, f *Factory, _ *pflag.FlagSet, word string) []string {
	format, prefix, err := f.typed(word)
	if err != nil {
		return nil
	}
	store, err := f.blobs(reads)
	if err != nil {
		return nil
	}
	var words []string
	for blob, err := range store.List(ctx, prefix) {
		if err != nil || len(words) == completionItems {
			break
		}
		if text, ok := asWord(format, blob.Reference); ok && strings.HasPrefix(text, word) {
			words = append(words, text)
		}
	}
	return words
}

func segmentCandidates(ctx context.Context, f *Factory, flags *pflag.FlagSet, word string) []string {
	store, err := f.warm(reads)
	if err != nil {
		return nil
	}
	namespace, err := flags.GetString("namespace")
	if err != nil {
		return nil
	}
	var words []string
	for segment, err := range store.Segments(ctx, &namespace) {
		if err != nil || len(words) == completionItems {
			break
		}
		if strings.HasPrefix(segment.Name, word) {
			words = append(words, segment.Name)
		}
	}
	return words
}
