package servers

// Looking for keys by how they begin.

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"
)

// scanCount is how many keys a SCAN looks at in one call.
const scanCount = 1000

// Keys calls look with the keys that begin with a text, some at a time, of one
// server after the other. A key that is there all the while comes at least
// once, and may come again. The error is that of look, or the client's.
func Keys(ctx context.Context, rdb redis.UniversalClient, begin string, look func(ctx context.Context, keys []string) error) error {
	pattern := Pattern(begin) + "*"
	return InTurn(ctx, rdb, func(ctx context.Context, server redis.Cmdable) error {
		for cursor := uint64(0); ; {
			keys, next, err := server.Scan(ctx, cursor, pattern, scanCount).Result()
			if err != nil {
				return err
			}
			found := keys[:0]
			for _, key := range keys {
				if strings.HasPrefix(key, begin) {
					found = append(found, key)
				}
			}
			if err := look(ctx, found); err != nil || next == 0 {
				return err
			}
			cursor = next
		}
	})
}

// anyOne puts "any one character" in place of those that MATCH reads as its own.
var anyOne = strings.NewReplacer(`*`, `?`, `[`, `?`, `\`, `?`)

// Pattern returns what MATCH takes to find text. It finds others too where text
// holds characters that MATCH reads as its own: what is found has to be
// compared.
func Pattern(text string) string { return anyOne.Replace(text) }
