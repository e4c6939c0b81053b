package blob

import (
	"context"
	"errors"
	"iter"

	"github.com/keyspacectl/keyspacectl/pkg/servers"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Walk yields what [Store.List] does, and remembers nothing: a blob may come
// twice while the server makes its table of keys larger or smaller.
func (s *Store) Walk(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		l := listing{store: s, begin: s.Key(prefix), yield: yield}
		if err := servers.Keys(ctx, s.rdb, l.begin, l.page); err != nil && !errors.Is(err, errStop) {
			yield(Info{}, storeerr.FromRedis(err, storeerr.Reads, "listing blobs"))
		}
	}
}
