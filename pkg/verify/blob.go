// The blob store.

package verify

import (
	"context"
	"iter"

	"github.com/redis/go-redis/v9"
)

// Blobs yields what is wrong in a blob store. The last thing yielded may be an
// error, one of storeerr's kinds.
func Blobs(ctx context.Context, rdb redis.UniversalClient, prefix string, o Options) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {}
}
