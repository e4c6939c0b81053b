package blob

// What is known of blobs without reading them whole.

import (
	"context"
	"fmt"
	"strconv"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
)

// facts are what the script blob_stat tells of a key. It is a script, not a
// transaction: Redis refuses those, reads and all, when it is out of memory.
type facts struct {
	size    int64
	ttl     int64  // as PTTL tells it
	head    string // its first bytes
	foreign bool   // the key is of another type
}

func (s *Store) facts(ctx context.Context, keys []string, headBytes int) (now int64, all []facts, err error) {
	reply, err := luascripts.Must("blob_stat").Run(ctx, s.rdb, keys, headBytes).StringSlice()
	if err != nil {
		return 0, nil, err
	}
	if now, err = strconv.ParseInt(reply[0], 10, 64); err != nil {
		return 0, nil, fmt.Errorf("reading the answer: %w", err)
	}
	all = make([]facts, len(keys))
	for i := range all {
		size, sizeErr := strconv.ParseInt(reply[1+3*i], 10, 64)
		ttl, ttlErr := strconv.ParseInt(reply[2+3*i], 10, 64)
		if sizeErr != nil || ttlErr != nil {
			return 0, nil, fmt.Errorf("reading the answer: %q and %q are no numbers", reply[1+3*i], reply[2+3*i])
		}
		all[i] = facts{size: size, ttl: ttl, head: reply[3+3*i], foreign: size < 0}
	}
	return now, all, nil
}
