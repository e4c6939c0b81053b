// Tests of running scripts on servers that know them, do not, or forget them.

package luascripts_test

import (
	"context"
	"fmt"
	"net"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

// sent notes how a client runs scripts; those of a pipeline stand together.
type sent struct {
	mu    sync.Mutex
	lines []string
}

func (s *sent) note(cmds ...redis.Cmder) {
	var names []string
	for _, cmd := range cmds {
		if name := cmd.Name(); name == "evalsha" || name == "eval" {
			names = append(names, name)
		}
	}
	if names == nil {
		return // of a new connection, or of the test itself
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, strings.Join(names, " "))
}

// take returns what was sent since the last call.
func (s *sent) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.lines
	s.lines = nil
	return lines
}

func (s *sent) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (s *sent) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { s.note(cmd); return next(ctx, cmd) }
}

func (s *sent) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { s.note(cmds...); return next(ctx, cmds) }
}

// watched is a client whose commands are noted, on a server without scripts.
func watched(t *testing.T, s testserver.Server) (*redis.Client, *sent) {
	t.Helper()
	client, commands := s.Client(t), &sent{}
	if err := client.ScriptFlush(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	client.AddHook(commands)
	return client, commands
}

// checkSent asserts what was sent since the last look.
func checkSent(t *testing.T, commands *sent, want ...string) {
	t.Helper()
	if got := commands.take(); !reflect.DeepEqual(got, want) {
		t.Errorf("sent %q, want %q", got, want)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		client, commands := watched(t, s)
		script := luascripts.Must("blob_put")
		put := func(key, payload string) string {
			reply, err := script.Run(t.Context(), client, []string{key}, payload, "PX", 60000).StringSlice()
			if err != nil {
				t.Fatal(err)
			}
			return reply[0]
		}
		for _, step := range []struct{ key, payload, want string }{
			{"a", "1", "stored"}, {"a", "1", "already_stored"}, {"a", "2", "conflict"},
		} {
			if got := put(step.key, step.payload); got != step.want {
				t.Errorf("put %s %s: %s, want %s", step.key, step.payload, got, step.want)
			}
		}
		checkSent(t, commands, "evalsha", "eval", "evalsha", "evalsha")

		if err := client.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if got := put("b", "1"); got != "stored" {
			t.Errorf("put after SCRIPT FLUSH: %s", got)
		}
		checkSent(t, commands, "evalsha", "eval")
	})
}

// TestRunReturnsErrors holds that only NOSCRIPT makes a script be sent again.
func TestRunReturnsErrors(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		client, commands := watched(t, s)
		if err := luascripts.Load(t.Context(), client); err != nil {
			t.Fatal(err)
		}
		if err := client.Set(t.Context(), "string", "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
		err := luascripts.Must("opaque_snapshot_close").Run(t.Context(), client, []string{"string", "b", "c"}, "id").Err()
		if err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
			t.Errorf("error %v, want WRONGTYPE", err)
		}
		checkSent(t, commands, "evalsha")
	})
}

func TestPipeline(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		client, commands := watched(t, s)
		if err := client.Set(t.Context(), "string", "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
		put, remove, end := luascripts.Must("blob_put"), luascripts.Must("blob_delete"), luascripts.Must("opaque_snapshot_close")
		if err := client.ScriptLoad(t.Context(), remove.Source).Err(); err != nil {
			t.Fatal(err)
		}
		calls := []luascripts.Call{
			{Script: put, Keys: []string{"a"}, Args: []any{"1", "PX", 60000}},
			{Script: remove, Keys: []string{"none"}},
			{Script: end, Keys: []string{"string", "b", "c"}, Args: []any{"id"}},
			{Script: put, Keys: []string{"b"}, Args: []any{"2", "PX", 60000}},
		}
		want := []string{"stored", "missing", "WRONGTYPE", "stored"}
		for i, cmd := range luascripts.Pipeline(t.Context(), client, calls) {
			if got := fmt.Sprint(cmd.Val(), cmd.Err()); !strings.Contains(got, want[i]) {
				t.Errorf("reply %d: %s, want %s", i, got, want[i])
			}
		}
		checkSent(t, commands, "evalsha evalsha evalsha evalsha", "eval eval eval")
		if got := client.Get(t.Context(), "b").Val(); got != "2" {
			t.Errorf("b holds %q", got)
		}

		luascripts.Pipeline(t.Context(), client, calls[:2])
		checkSent(t, commands, "evalsha evalsha")
	})
}

// TestWithoutScriptLoad works as a user who may run scripts and not load them.
func TestWithoutScriptLoad(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t)
	admin := s.Client(t)
	if err := admin.Do(t.Context(), "ACL", "SETUSER", "app", "on", ">secret", "~app:*", "+@all", "-script").Err(); err != nil {
		t.Fatal(err)
	}
	options := *admin.Options()
	options.Username, options.Password = "app", "secret"
	user := redis.NewClient(&options)
	defer user.Close()

	if err := luascripts.Load(t.Context(), user); err == nil || !strings.Contains(err.Error(), "permission") {
		t.Errorf("Load: %v, want it denied", err)
	}
	calls := []luascripts.Call{{Script: luascripts.Must("blob_put"), Keys: []string{"app:a"}, Args: []any{"1", "PX", 60000}}}
	if err := luascripts.Pipeline(t.Context(), user, calls)[0].Err(); err != nil {
		t.Error(err)
	}
	write(t, user, "app", 3, 1)
	checkRows(t, admin, "app", 3, 3)
}

// TestScriptFlush writes rows while the server is made to forget its scripts
// again and again: no write fails, and none is applied twice.
func TestScriptFlush(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rows, batch := 10000, 50
		if !s.Real {
			rows = 1000 // it sorts its index anew for every batch
		}
		ctx, stop := context.WithCancel(t.Context())
		flushing := make(chan error)
		client := s.Client(t)
		go func() {
			for ctx.Err() == nil {
				if err := client.ScriptFlush(context.WithoutCancel(ctx)).Err(); err != nil {
					flushing <- err
					return
				}
			}
			flushing <- nil
		}()
		write(t, s.Client(t), "app", rows, batch)
		stop()
		if err := <-flushing; err != nil {
			t.Fatal(err)
		}
		checkRows(t, client, "app", rows, rows/batch)
	})
}

// write puts rows in batches, each row only where it is missing.
func write(t *testing.T, client *redis.Client, prefix string, rows, batch int) {
	t.Helper()
	store, err := opaque.New(client, prefix)
	if err != nil {
		t.Error(err)
		return
	}
	for first := 0; first < rows; first += batch {
		var b opaque.Batch
		for row := first; row < first+batch; row++ {
			b.Conditions = append(b.Conditions, opaque.Missing(strconv.Itoa(row)))
			b.Mutations = append(b.Mutations, opaque.Put(strconv.Itoa(row), "value", opaque.Never()))
		}
		if _, err := store.Write(t.Context(), b); err != nil {
			t.Errorf("batch at %d: %v", first, err)
			return
		}
	}
}

// checkRows asserts how many rows there are, one version each, and how many
// batches wrote them.
func checkRows(t *testing.T, client *redis.Client, prefix string, rows, batches int) {
	t.Helper()
	keys, err := opaque.NewKeys(prefix)
	if err != nil {
		t.Fatal(err)
	}
	if got := client.Get(t.Context(), keys.Sequence()).Val(); got != strconv.Itoa(batches) {
		t.Errorf("the counter is %s, want %d", got, batches)
	}
	if got := client.ZCard(t.Context(), keys.Index()).Val(); got != int64(rows) {
		t.Errorf("the index has %d rows, want %d", got, rows)
	}
	cmds, err := client.Pipelined(t.Context(), func(p redis.Pipeliner) error {
		for row := range rows {
			p.ZCard(t.Context(), keys.Row(strconv.Itoa(row)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for row, cmd := range cmds {
		if got := cmd.(*redis.IntCmd).Val(); got != 1 {
			t.Fatalf("row %d has %d versions", row, got)
		}
	}
}
