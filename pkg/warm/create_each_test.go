package warm_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// TestCreateEach holds that each chunk is created by itself.
func TestCreateEach(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *warm.Store) {
		ctx := t.Context()
		if _, err := store.Create(ctx, users, 2, []byte("there")); err != nil {
			t.Fatal(err)
		}
		if err := rdb.Set(ctx, store.ChunkKey(users, 3), "foreign", 0).Err(); err != nil {
			t.Fatal(err)
		}
		created := store.CreateEach(ctx, []warm.Chunk{
			{Segment: users, Number: 1, Payload: []byte("one"), Token: "kept"},
			{Segment: users, Number: 2, Payload: []byte("two")},
			{Segment: users, Number: 3, Payload: []byte("three")},
			{Segment: warm.Segment{Name: "no segment"}, Payload: []byte("invalid")},
			{Segment: users, Number: 4, Payload: make([]byte, warm.MaxPayloadBytes+1)},
			{Segment: warm.Segment{Namespace: "eu", Name: "users"}, Number: 65535},
		})
		for i, kind := range []storeerr.Kind{"", storeerr.Conflict, storeerr.Integrity, storeerr.Invalid, storeerr.Invalid, ""} {
			switch c := created[i]; {
			case kind != "":
				wantKind(t, c.Err, kind)
			case c.Err != nil || c.Result.Outcome != warm.Created:
				t.Errorf("chunk %d: %+v", i, c)
			}
		}
		for number, want := range map[uint16]string{1: "one", 2: "there"} {
			got, err := store.Get(ctx, users, number)
			if err != nil || string(got.Payload) != want || (got.Token == "kept") != (number == 1) {
				t.Errorf("chunk %d: %+v, %v", number, got, err)
			}
		}
		if got, err := store.Get(ctx, warm.Segment{Namespace: "eu", Name: "users"}, 65535); err != nil || len(got.Payload) != 0 || got.Token != created[5].Result.Token {
			t.Errorf("the empty chunk: %+v, %v", got, err)
		}
		if numbers := rdb.ZRange(ctx, store.IndexKey(users), 0, -1).Val(); len(numbers) != 2 {
			t.Errorf("the index holds %v", numbers)
		}
		if created := store.CreateEach(ctx, nil); len(created) != 0 {
			t.Errorf("of no chunks: %+v", created)
		}
	})
}
