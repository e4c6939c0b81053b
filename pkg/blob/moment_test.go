package blob_test

// Expiries are known as the server's time and what is left to live, so the two
// are read next to each other: the time goes on while 64 MiB are compared.

import (
	"bufio"
	"fmt"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func TestWhatIsLeftStandsNextToTheTime(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	server := testserver.Real(t)
	rdb := server.Client(t)
	store := open(t, rdb, server.Prefix(t))
	ran := monitor(t, server)
	mustPut(t, store, "a", "bytes")
	mustPut(t, store, "a", "bytes")
	mustPut(t, store, "b", "bytes")
	for _, operation := range []func() error{
		func() error { _, err := store.Read(ctx, "a"); return err },
		func() error { _, err := store.Stat(ctx, "a"); return err },
		func() error { _, err := store.Renew(ctx, "a", 1000); return err },
		func() error { return luascripts.Must("blob_read").Run(ctx, rdb, []string{store.Key("a")}).Err() },
		func() error {
			for _, err := range store.List(ctx, "") {
				if err != nil {
					return err
				}
			}
			return nil
		},
	} {
		if err := operation(); err != nil {
			t.Fatal(err)
		}
	}
	seen, before := 0, ""
	for _, command := range ran(t) {
		if command == "PTTL" {
			seen++
			if before != "TIME" && before != "PTTL" {
				t.Errorf("PTTL stands behind %s", before)
			}
		}
		before = command
	}
	if seen != 6 { // one of each that shows the expiry of a blob that was there
		t.Errorf("PTTL was asked %d times, want 6", seen)
	}
}

// A put and a renewal answer with the end that was asked for.
func TestEndsAreThoseAskedFor(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := t.Context()
		rdb := s.Client(t)
		store := open(t, rdb, s.Prefix(t))
		const moment = 4102444800000
		end := func(reference string) int64 {
			ms, err := rdb.Do(ctx, "PEXPIRETIME", store.Key(reference)).Int64()
			if err != nil {
				t.Fatal(err)
			}
			return ms
		}
		if got, err := store.PutUntil(ctx, "a", []byte("bytes"), moment); err != nil || got.ExpiresAt != moment || end("a") != moment {
			t.Errorf("put: %+v, %v, and it ends at %d", got, err, end("a"))
		}
		if got, err := store.Put(ctx, "b", nil, 1); err != nil || got.ExpiresAt != got.Now+1 {
			t.Errorf("put for 1 ms: %+v, %v", got, err)
		}
		if got, err := store.Renew(ctx, "a", 60_000); err != nil || got.Outcome != blob.Renewed || got.ExpiresAt != got.Now+60_000 {
			t.Errorf("renewed: %+v, %v", got, err)
		}
		if got, err := store.RenewUntil(ctx, "a", moment-1); err != nil || got.Outcome != blob.Renewed || got.ExpiresAt != moment-1 || end("a") != moment-1 {
			t.Errorf("renewed until: %+v, %v, and it ends at %d", got, err, end("a"))
		}
		// The script that compares stores what has vanished meanwhile.
		for reference, life := range map[string][2]any{"c": {"PXAT", int64(moment)}, "d": {"PX", int64(60_000)}} {
			reply, err := luascripts.Must("blob_put").Run(ctx, rdb, []string{store.Key(reference)}, "bytes", life[0], life[1]).StringSlice()
			if err != nil || len(reply) != 2 || reply[0] != "stored" {
				t.Errorf("%q, %v", reply, err)
			}
		}
		if end("c") != moment {
			t.Errorf("c ends at %d", end("c"))
		}
	})
}

// A renewal to a moment that has passed ends the blob with the next ms.
func TestRenewUntilThePast(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *blob.Store) {
		mustPut(t, store, "a", "bytes")
		if got, err := store.RenewUntil(t.Context(), "a", 1); err != nil || got.Outcome != blob.Renewed {
			t.Errorf("%+v, %v", got, err)
		}
		for rdb.Exists(t.Context(), store.Key("a")).Val() == 1 {
			time.Sleep(time.Millisecond)
		}
		for _, ms := range []int64{0, -1, blob.MaxRetention + 1} {
			_, err := store.RenewUntil(t.Context(), "a", ms)
			wantKind(t, err, storeerr.Invalid)
		}
		_, err := store.RenewUntil(t.Context(), "a", 4102444800000)
		wantKind(t, err, storeerr.NotFound)
	})
}

// monitor returns what names the commands that the server has run since.
func monitor(t *testing.T, server testserver.Server) func(t *testing.T) []string {
	t.Helper()
	conn, err := net.Dial("unix", strings.TrimPrefix(server.URL, "unix://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	lines := bufio.NewScanner(conn)
	if _, err := fmt.Fprint(conn, "MONITOR\r\n"); err != nil || !lines.Scan() {
		t.Fatal(err, lines.Err())
	}
	name := regexp.MustCompile(`\] "([^"]*)"`)
	return func(t *testing.T) (names []string) {
		t.Helper()
		const last = "that is all"
		if err := server.Client(t).Echo(t.Context(), last).Err(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() && !strings.Contains(lines.Text(), last) {
			if found := name.FindStringSubmatch(lines.Text()); found != nil {
				names = append(names, strings.ToUpper(found[1]))
			}
		}
		return names
	}
}
