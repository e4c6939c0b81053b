package blob_test

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func TestNewRefusesPrefixes(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "a{b", "a}b"} {
		_, err := blob.New(nil, prefix)
		wantKind(t, err, storeerr.Invalid)
	}
}

func TestPutIsStoredOnce(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *blob.Store) {
		const retention = 3600000
		first := mustPut(t, store, "a", "bytes")
		if first.Outcome != blob.Stored {
			t.Errorf("first put: %s, want stored", first.Outcome)
		}
		if left := first.ExpiresAt - first.Now; left < retention-30_000 || left > retention {
			t.Errorf("first put lives %d ms, want %d", left, retention)
		}
		again, err := store.Put(t.Context(), "a", []byte("bytes"), 1)
		if err != nil || again.Outcome != blob.AlreadyStored {
			t.Fatalf("same bytes: %v, %v, want already_stored", again, err)
		}
		if drift := again.ExpiresAt - first.ExpiresAt; drift < -30_000 || drift > 30_000 {
			t.Errorf("same bytes moved the expiry by %d ms", drift)
		}
		for _, other := range []string{"bytez", "", "longer bytes"} {
			_, err := store.Put(t.Context(), "a", []byte(other), 1)
			wantKind(t, err, storeerr.Conflict)
		}
		got, err := store.Read(t.Context(), "a")
		if err != nil || string(got.Payload) != "bytes" || got.Size != 5 {
			t.Errorf("read %q, %d bytes, %v, want \"bytes\"", got.Payload, got.Size, err)
		}
	})
}

func TestEmptyBlobIsFound(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *blob.Store) {
		mustPut(t, store, "empty", "")
		got, err := store.Read(t.Context(), "empty")
		if err != nil || len(got.Payload) != 0 {
			t.Errorf("read %q, %v, want an empty payload", got.Payload, err)
		}
		if again := mustPut(t, store, "empty", ""); again.Outcome != blob.AlreadyStored {
			t.Errorf("second put: %s, want already_stored", again.Outcome)
		}
		_, err = store.Read(t.Context(), "missing")
		wantKind(t, err, storeerr.NotFound)
	})
}

func TestRenew(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *blob.Store) {
		mustPut(t, store, "a", "bytes")
		for _, retention := range []int64{60000, 7200000} {
			result, err := store.Renew(t.Context(), "a", retention)
			if err != nil || result.Outcome != blob.Renewed {
				t.Fatalf("renew: %v, %v", result, err)
			}
			if left := result.ExpiresAt - result.Now; left < retention-30_000 || left > retention {
				t.Errorf("renewed for %d ms, want %d", left, retention)
			}
		}
		if got, _ := store.Read(t.Context(), "a"); string(got.Payload) != "bytes" {
			t.Errorf("renew left %q, want \"bytes\"", got.Payload)
		}
		_, err := store.Renew(t.Context(), "missing", 1000)
		wantKind(t, err, storeerr.NotFound)
		if n := rdb.Exists(t.Context(), store.Key("missing")).Val(); n != 0 {
			t.Error("renewing a missing blob made one")
		}
	})
}

func TestDeleteSaysWhich(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *blob.Store) {
		mustPut(t, store, "a", "bytes")
		for _, want := range []blob.Outcome{blob.Deleted, blob.Missing} {
			result, err := store.Delete(t.Context(), "a")
			if err != nil || result.Outcome != want || result.Now == 0 {
				t.Errorf("delete: %v, %v, want %s", result, err, want)
			}
		}
		_, err := store.Read(t.Context(), "a")
		wantKind(t, err, storeerr.NotFound)
	})
}

func TestBlobWithoutExpiry(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *blob.Store) {
		rdb.Set(t.Context(), store.Key("a"), "bytes", 0)
		got, err := store.Read(t.Context(), "a")
		if err != nil || got.ExpiresAt != 0 {
			t.Errorf("read: expiry %d, %v, want none", got.ExpiresAt, err)
		}
		if result := mustPut(t, store, "a", "bytes"); result.Outcome != blob.AlreadyStored || result.ExpiresAt != 0 {
			t.Errorf("put: %+v, want already_stored without an expiry", result)
		}
	})
}

func TestExpiredBlobIsMissing(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *blob.Store) {
		if _, err := store.Put(t.Context(), "a", []byte("old"), 1); err != nil {
			t.Fatal(err)
		}
		for rdb.Exists(t.Context(), store.Key("a")).Val() == 1 {
			time.Sleep(time.Millisecond)
		}
		_, err := store.Read(t.Context(), "a")
		wantKind(t, err, storeerr.NotFound)
		if result := mustPut(t, store, "a", "new"); result.Outcome != blob.Stored {
			t.Errorf("put over an expired blob: %s, want stored", result.Outcome)
		}
	})
}

func TestForeignTypeIsLeftAlone(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *blob.Store) {
		ctx := t.Context()
		rdb.HSet(ctx, store.Key("a"), "f", "v")
		operations := map[string]func() error{
			"put":    func() error { _, err := store.Put(ctx, "a", []byte("x"), 1000); return err },
			"read":   func() error { _, err := store.Read(ctx, "a"); return err },
			"renew":  func() error { _, err := store.Renew(ctx, "a", 1000); return err },
			"delete": func() error { _, err := store.Delete(ctx, "a"); return err },
			"stat":   func() error { _, err := store.Stat(ctx, "a"); return err },
		}
		for name, operation := range operations {
			err := operation()
			wantKind(t, err, storeerr.Integrity)
			if err != nil && !strings.Contains(err.Error(), store.Key("a")) {
				t.Errorf("%s: %v names no key", name, err)
			}
		}
		if got := rdb.HGetAll(ctx, store.Key("a")).Val(); len(got) != 1 || got["f"] != "v" {
			t.Errorf("the foreign key holds %v now", got)
		}
		if ttl := rdb.PTTL(ctx, store.Key("a")).Val(); ttl != -1 {
			t.Errorf("the foreign key has a TTL of %v now", ttl)
		}
	})
}

func TestLimitsAreCheckedBeforeSending(t *testing.T) {
	t.Parallel()
	// Nothing listens there: whatever is sent fails with another kind.
	store := open(t, redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1}), "p")
	ctx := context.Background()
	long := strings.Repeat("r", blob.MaxReferenceBytes)
	put := func(reference string, size int, retention int64) error {
		_, err := store.Put(ctx, reference, make([]byte, size), retention)
		return err
	}
	renew := func(retention int64) error { _, err := store.Renew(ctx, "r", retention); return err }
	read := func(reference string) error { _, err := store.Read(ctx, reference); return err }
	for _, test := range []struct {
		name string
		err  error
		want storeerr.Kind
	}{
		{"empty reference", put("", 1, 1), storeerr.Invalid},
		{"longest reference", put(long, 1, 1), storeerr.Unavailable},
		{"reference too long", put(long+"r", 1, 1), storeerr.Invalid},
		{"reference no UTF-8", put("a\xff", 1, 1), storeerr.Invalid},
		{"payload too long", put("r", blob.MaxPayloadBytes+1, 1), storeerr.Invalid},
		{"no retention", put("r", 1, 0), storeerr.Invalid},
		{"negative retention", put("r", 1, -1), storeerr.Invalid},
		{"longest retention", put("r", 1, blob.MaxRetention), storeerr.Unavailable},
		{"retention too long", put("r", 1, blob.MaxRetention+1), storeerr.Invalid},
		{"retention far too long", put("r", 1, math.MaxInt64), storeerr.Invalid},
		{"renew for nothing", renew(0), storeerr.Invalid},
		{"renew for too long", renew(blob.MaxRetention + 1), storeerr.Invalid},
		{"read of the empty reference", read(""), storeerr.Invalid},
		{"everything wrong", put("", blob.MaxPayloadBytes+1, 0), storeerr.Invalid},
	} {
		t.Run(test.name, func(t *testing.T) { wantKind(t, test.err, test.want) })
	}
}

func TestLongestRetention(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t)
	store := open(t, s.Client(t), s.Prefix(t))
	put, err := store.Put(t.Context(), "r", nil, blob.MaxRetention)
	if err != nil {
		t.Fatal(err)
	}
	renewed, err := store.Renew(t.Context(), "r", blob.MaxRetention)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range []blob.Result{put, renewed} {
		if left := result.ExpiresAt - result.Now; left < blob.MaxRetention-30_000 || left > blob.MaxRetention {
			t.Errorf("it lives %d ms, want %d", left, int64(blob.MaxRetention))
		}
	}
}

func TestLargestBlob(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t)
	store := open(t, s.Client(t), s.Prefix(t))
	payload := bytes.Repeat([]byte("0123456789abcdef"), blob.MaxPayloadBytes/16+1)[:blob.MaxPayloadBytes]
	if _, err := store.Put(t.Context(), "r", payload, 60000); err != nil {
		t.Fatal(err)
	}
	got, err := store.Read(t.Context(), "r")
	if err != nil || !bytes.Equal(got.Payload, payload) {
		t.Fatalf("read %d bytes, %v, want the %d put", len(got.Payload), err, len(payload))
	}
}
