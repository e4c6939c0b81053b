// Tests of the client of a primary that Sentinels watch.
package redisconn_test

import (
	"fmt"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/redisconn"
	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func TestSentinel(t *testing.T) {
	t.Parallel()
	server := testserver.StartSentinel(t, testserver.SentinelOptions{Password: "of-the-server", SentinelPassword: "of-the-sentinels"})
	target := func(password, sentinelPassword string, addrs ...string) redisconn.Target {
		return redisconn.Target{
			Network: "tcp", Addr: addrs[0], Others: addrs[1:], Password: password,
			Sentinel: &redisconn.Sentinel{Master: testserver.MasterName, Password: sentinelPassword},
		}
	}
	addrs, closed := server.Addrs(), closedPort(t)
	for says, c := range map[string]struct {
		target redisconn.Target
		kind   storeerr.Kind
	}{
		"a Sentinel refuses to be asked: NOAUTH":                                        {target("of-the-server", "", addrs...), storeerr.Denied},
		"a Sentinel refuses to be asked: WRONGPASS":                                     {target("of-the-server", "wrong", addrs...), storeerr.Denied},
		"the server asks for a password":                                                {target("", "of-the-sentinels", addrs...), storeerr.Denied},
		"the user name or password is wrong":                                            {target("wrong", "of-the-sentinels", addrs...), storeerr.Denied},
		`no Sentinel says where the primary "mymaster" is: cannot connect to ` + closed: {target("of-the-server", "of-the-sentinels", closed, closed), storeerr.Unavailable},
	} {
		for way, write := range writings() {
			err := write(t.Context(), open(t, redisconn.Options{Target: c.target}))
			checkError(t, storeerr.FromRedis(err, storeerr.Writes, way), c.kind, says)
		}
	}

	// One Sentinel that is gone does not matter, and a failover is followed.
	client := open(t, redisconn.Options{Target: target("of-the-server", "of-the-sentinels", closed, addrs[1])})
	for i := range 3 {
		if err := client.Set(t.Context(), fmt.Sprint(i), "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Do(t.Context(), "WAIT", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	server.Failover(t)
	for i := range 3 {
		if got, err := client.Get(t.Context(), fmt.Sprint(i)).Result(); got != "v" {
			t.Errorf("after the failover %d is %q, %v", i, got, err)
		}
	}
	server.KillMaster(t)
	if got, err := client.Get(t.Context(), "1").Result(); got != "v" {
		t.Errorf("after the death of the primary: %q, %v", got, err)
	}
}
