package warm_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

func TestNewChecksPrefixes(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"a{", "a}", "a|b", "a:b", "a\nb", "a\x00", "\u0085"} {
		_, err := warm.New(nil, prefix)
		wantKind(t, err, storeerr.Invalid)
	}
	for _, prefix := range []string{"", "app", "a b", "Ж*[?"} {
		if _, err := warm.New(nil, prefix); err != nil {
			t.Errorf("prefix %q: %v", prefix, err)
		}
	}
}

func TestSegmentCheck(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("n", warm.MaxNameBytes)
	for _, name := range []string{"a", "0", "Users.v1_x-y", "a.b.c", longest} {
		for _, seg := range []warm.Segment{{Name: name}, {Namespace: name, Name: "s"}} {
			if err := seg.Check(); err != nil {
				t.Errorf("%q: %v", seg, err)
			}
		}
	}
	for _, name := range []string{"_default", "-a", ".a", "a..b", "a b", "a|b", "a{b", "a:b", "ä", "a\n", longest + "n"} {
		wantKind(t, warm.Segment{Name: name}.Check(), storeerr.Invalid)
		wantKind(t, warm.Segment{Namespace: name, Name: "s"}.Check(), storeerr.Invalid)
	}
	wantKind(t, warm.Segment{}.Check(), storeerr.Invalid)
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		prefix       string
		seg          warm.Segment
		chunk, index string
	}{
		{"app", warm.Segment{Name: "users"}, "{app|_default|users}c:65535", "{app|_default|users}idx"},
		{"", warm.Segment{Namespace: "eu", Name: "users"}, "{|eu|users}c:65535", "{|eu|users}idx"},
	} {
		store := open(t, nil, test.prefix)
		if got := store.ChunkKey(test.seg, 65535); got != test.chunk {
			t.Errorf("chunk key %q, want %q", got, test.chunk)
		}
		if got := store.IndexKey(test.seg); got != test.index {
			t.Errorf("index key %q, want %q", got, test.index)
		}
	}
}

func TestLimitsAreCheckedBeforeSending(t *testing.T) {
	t.Parallel()
	// Nothing listens there: whatever is sent fails with another kind.
	store := open(t, redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1}), "p")
	ctx := t.Context()
	bad := warm.Segment{Name: "_default"}
	create := func(seg warm.Segment, size int) error {
		_, err := store.Create(ctx, seg, 1, make([]byte, size))
		return err
	}
	update := func(size int, expect string) error {
		_, err := store.Update(ctx, users, 1, make([]byte, size), expect)
		return err
	}
	remove := func(expect string) error { _, err := store.Delete(ctx, users, 1, expect); return err }
	get := func(seg warm.Segment) error { _, err := store.Get(ctx, seg, 1); return err }
	for _, test := range []struct {
		name string
		err  error
		want storeerr.Kind
	}{
		{"create longest", create(users, warm.MaxPayloadBytes), storeerr.Unavailable},
		{"create too long", create(users, warm.MaxPayloadBytes+1), storeerr.Invalid},
		{"create bad segment", create(bad, 1), storeerr.Invalid},
		{"create all bad", create(bad, warm.MaxPayloadBytes+1), storeerr.Invalid},
		{"update too long", update(warm.MaxPayloadBytes+1, "t"), storeerr.Invalid},
		{"update without token", update(1, ""), storeerr.Invalid},
		{"delete without token", remove(""), storeerr.Invalid},
		{"delete", remove("t"), storeerr.Unavailable},
		{"get bad segment", get(bad), storeerr.Invalid},
		{"get", get(users), storeerr.Unavailable},
	} {
		t.Run(test.name, func(t *testing.T) { wantKind(t, test.err, test.want) })
	}
	for _, err := range store.List(ctx, bad, warm.ListOptions{}) {
		wantKind(t, err, storeerr.Invalid)
	}
	for _, err := range store.Segments(ctx, &bad.Name) {
		wantKind(t, err, storeerr.Invalid)
	}
}

func TestLongestPayload(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *warm.Store) {
		payload := bytes.Repeat([]byte{0, 0xff, '\r', '\n', 0x80}, warm.MaxPayloadBytes/5+1)[:warm.MaxPayloadBytes]
		mustCreate(t, store, 65535, string(payload))
		got, err := store.Get(t.Context(), users, 65535)
		if err != nil || !bytes.Equal(got.Payload, payload) {
			t.Errorf("%d bytes, %v, want the %d written", len(got.Payload), err, len(payload))
		}
	})
}
