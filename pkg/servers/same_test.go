package servers_test

import (
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/servers"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func TestSame(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		other := testserver.Embedded(t)
		for name, c := range map[string]struct {
			one, other testserver.Server
			want       bool
		}{
			"two connections": {s, s, true},
			"two servers":     {s, other, false},
			"the other way":   {other, s, false},
		} {
			same, err := servers.Same(t.Context(), c.one.Client(t), c.other.Client(t))
			if err != nil || same != c.want {
				t.Errorf("%s: %v, %v", name, same, err)
			}
		}
	})
}

func TestSameWithoutAnswer(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t, testserver.Users("blind on nopass ~* +@all -info")...)
	mute := redis.NewClient(&redis.Options{Network: "unix", Addr: s.Client(t).Options().Addr, Username: "blind", Password: "any"})
	t.Cleanup(func() { _ = mute.Close() })
	if same, err := servers.Same(t.Context(), mute, s.Client(t)); err != nil || same {
		t.Errorf("a server that may not tell: %v, %v", same, err)
	}
	gone := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	t.Cleanup(func() { _ = gone.Close() })
	if _, err := servers.Same(t.Context(), gone, s.Client(t)); !errors.Is(err, storeerr.Unavailable) {
		t.Errorf("a server that is not there: %v", err)
	}
}
