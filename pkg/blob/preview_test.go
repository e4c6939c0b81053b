package blob_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func TestPreviews(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *blob.Store) {
		ctx := t.Context()
		put := func(reference, payload string) (blob.Result, error) {
			return store.PreviewPut(ctx, reference, []byte(payload), 60000)
		}
		there := mustPut(t, store, "there", "hello")
		if err := rdb.HSet(ctx, store.Key("foreign"), "f", "v").Err(); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			name    string
			preview func() (blob.Result, error)
			outcome blob.Outcome
			kind    storeerr.Kind
		}{
			{"put", func() (blob.Result, error) { return put("new", "hello") }, blob.Stored, ""},
			{"put again", func() (blob.Result, error) { return put("there", "hello") }, blob.AlreadyStored, ""},
			{"put other bytes", func() (blob.Result, error) { return put("there", "jello") }, "", storeerr.Conflict},
			{"put another length", func() (blob.Result, error) { return put("there", "") }, "", storeerr.Conflict},
			{"put on a foreign key", func() (blob.Result, error) { return put("foreign", "") }, "", storeerr.Integrity},
			{"put under no reference", func() (blob.Result, error) { return put("", "") }, "", storeerr.Invalid},
			{"put for no time", func() (blob.Result, error) { return store.PreviewPut(ctx, "new", nil, 0) }, "", storeerr.Invalid},
			{"renew", func() (blob.Result, error) { return store.PreviewRenew(ctx, "there", 1) }, blob.Renewed, ""},
			{"renew none", func() (blob.Result, error) { return store.PreviewRenew(ctx, "new", 1) }, "", storeerr.NotFound},
			{"renew for no time", func() (blob.Result, error) { return store.PreviewRenew(ctx, "there", 0) }, "", storeerr.Invalid},
			{"delete", func() (blob.Result, error) { return store.PreviewDelete(ctx, "there") }, blob.Deleted, ""},
			{"delete none", func() (blob.Result, error) { return store.PreviewDelete(ctx, "new") }, blob.Missing, ""},
			{"delete a foreign key", func() (blob.Result, error) { return store.PreviewDelete(ctx, "foreign") }, "", storeerr.Integrity},
		} {
			got, err := test.preview()
			if got.Outcome != test.outcome || storeerr.KindOf(err) != test.kind {
				t.Errorf("%s: %+v, %v; want %q, %q", test.name, got, err, test.outcome, test.kind)
			}
			if err == nil && got.Now < there.Now {
				t.Errorf("%s: the server's time is %d, after %d", test.name, got.Now, there.Now)
			}
			if got.Outcome == blob.AlreadyStored && got.ExpiresAt < there.ExpiresAt-30_000 {
				t.Errorf("%s: expiry %d, want that of the blob, %d", test.name, got.ExpiresAt, there.ExpiresAt)
			}
		}
		if n := rdb.DBSize(ctx).Val(); n != 2 {
			t.Errorf("%d keys after the previews, want 2", n)
		}
		if got, err := store.Read(ctx, "there"); err != nil || string(got.Payload) != "hello" || got.ExpiresAt < there.ExpiresAt-30_000 {
			t.Errorf("the blob is %+v, %v now", got, err)
		}
	})
}
