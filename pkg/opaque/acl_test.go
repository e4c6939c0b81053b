package opaque

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// A user who may not run one command of a write's script is told that nothing
// changed only where nothing did.
func TestDeniedCommands(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := testserver.Real(t)
	f := newFixture(t, s)
	for _, command := range []string{
		"evalsha", "eval", "time", "type", "exists", "zrevrange", "get", "zrange", "zscore", "zcard", "zcount",
		"incr", "zadd", "hset", "zrem", "zrangebyscore", "zremrangebyrank",
	} {
		f.do(t, "ACL", "SETUSER", "bob", "reset", "on", "nopass", "~*", "+@all", "-"+command)
		options := *f.rdb.Options()
		options.Username, options.Password, options.MaxRetries = "bob", "any", -1
		bob := redis.NewClient(&options)
		store := mustStore(t, bob, "other-"+command)
		theirs := fixture{mustStore(t, f.rdb, "other-"+command), f.rdb}
		theirs.put(t, "k", "before")
		before := theirs.dump(t)
		_, err := store.Write(ctx, Batch{
			Conditions: []Condition{VersionIs("k", "1")},
			Mutations:  []Mutation{Put("k", "after", Never()), Put("new", "x", Never())},
		})
		unchanged := maps.Equal(before, theirs.dump(t))
		switch {
		case errors.Is(err, storeerr.Denied):
			if !unchanged {
				t.Errorf("without %s: %v, and yet it changed something", command, err)
			}
		case errors.Is(err, storeerr.UnknownOutcome):
			if unchanged {
				t.Errorf("without %s: %v, and nothing changed", command, err)
			}
		case err != nil:
			t.Errorf("without %s: %v", command, err)
		}
		if err := bob.Close(); err != nil {
			t.Error(err)
		}
	}
}
