package blob_test

// Blobs that expire at a given moment.

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func TestPutUntil(t *testing.T) {
	each(t, func(t *testing.T, _ *redis.Client, store *blob.Store) {
		const moment = 4102444800000
		for _, want := range []blob.Outcome{blob.Stored, blob.AlreadyStored} {
			got, err := store.PutUntil(t.Context(), "a", []byte("v"), moment)
			if err != nil || got.Outcome != want || got.ExpiresAt < moment-30_000 || got.ExpiresAt > moment+30_000 {
				t.Errorf("%+v, %v; want %s until %d", got, err, want, int64(moment))
			}
		}
		_, err := store.PutUntil(t.Context(), "a", []byte("w"), moment)
		wantKind(t, err, storeerr.Conflict)
		for _, ms := range []int64{0, -1, blob.MaxRetention + 1} {
			_, err := store.PutUntil(t.Context(), "b", nil, ms)
			wantKind(t, err, storeerr.Invalid)
		}
	})
}
