package warm_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// TestPreviews runs each preview and then the write itself: both say the same.
func TestPreviews(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *warm.Store) {
		ctx := t.Context()
		there := mustCreate(t, store, 1, "old")
		damaged := warm.Segment{Namespace: "eu", Name: "damaged"}
		lay := func(args ...any) {
			if err := rdb.Do(ctx, args...).Err(); err != nil {
				t.Fatal(err)
			}
		}
		lay("HSET", store.ChunkKey(users, 7), "b", "no token")
		lay("SET", store.ChunkKey(users, 8), "no hash")
		lay("SET", store.IndexKey(damaged), "no index")
		lay("HSET", store.ChunkKey(damaged, 1), "t", "token", "b", "")

		payload, tooLong := []byte("new"), make([]byte, warm.MaxPayloadBytes+1)
		type call func(seg warm.Segment, chunk uint16) (warm.Result, error)
		create := [2]call{
			func(seg warm.Segment, n uint16) (warm.Result, error) {
				return store.PreviewCreate(ctx, seg, n, payload)
			},
			func(seg warm.Segment, n uint16) (warm.Result, error) { return store.Create(ctx, seg, n, payload) },
		}
		update := func(payload []byte, expect string) [2]call {
			return [2]call{
				func(seg warm.Segment, n uint16) (warm.Result, error) {
					return store.PreviewUpdate(ctx, seg, n, payload, expect)
				},
				func(seg warm.Segment, n uint16) (warm.Result, error) {
					return store.Update(ctx, seg, n, payload, expect)
				},
			}
		}
		remove := func(expect string) [2]call {
			return [2]call{
				func(seg warm.Segment, n uint16) (warm.Result, error) { return store.PreviewDelete(ctx, seg, n, expect) },
				func(seg warm.Segment, n uint16) (warm.Result, error) { return store.Delete(ctx, seg, n, expect) },
			}
		}
		for _, test := range []struct {
			name    string
			calls   [2]call
			seg     warm.Segment
			chunk   uint16
			outcome warm.Outcome
			kind    storeerr.Kind
		}{
			{"create where one is", create, users, 1, "", storeerr.Conflict},
			{"create without a token there", create, users, 7, "", storeerr.Conflict},
			{"create on a string", create, users, 8, "", storeerr.Integrity},
			{"create with a damaged index", create, damaged, 2, "", storeerr.Integrity},
			{"create in a bad segment", create, warm.Segment{Name: "a..b"}, 1, "", storeerr.Invalid},
			{"update with another token", update(payload, "other"), users, 1, "", storeerr.Conflict},
			{"update of none", update(payload, there), users, 2, "", storeerr.Conflict},
			{"update without a token there", update(payload, "other"), users, 7, "", storeerr.Integrity},
			{"update by too much", update(tooLong, there), users, 1, "", storeerr.Invalid},
			{"update for no token", update(payload, ""), users, 1, "", storeerr.Invalid},
			{"update beside a damaged index", update(payload, "token"), damaged, 1, warm.Updated, ""},
			{"delete with another token", remove("other"), users, 1, "", storeerr.Conflict},
			{"delete of none", remove(there), users, 2, "", storeerr.Conflict},
			{"delete with a damaged index", remove("token"), damaged, 1, "", storeerr.Integrity},
			{"delete", remove(there), users, 1, warm.Deleted, ""},
			{"create", create, users, 2, warm.Created, ""},
		} {
			keys := rdb.DBSize(ctx).Val()
			preview, previewErr := test.calls[0](test.seg, test.chunk)
			if rdb.DBSize(ctx).Val() != keys {
				t.Errorf("%s: the preview changed the number of keys", test.name)
			}
			done, err := test.calls[1](test.seg, test.chunk)
			if preview.Outcome != test.outcome || storeerr.KindOf(previewErr) != test.kind || preview.Token != "" {
				t.Errorf("%s: preview %+v, %v; want %q, %q", test.name, preview, previewErr, test.outcome, test.kind)
			}
			if done.Outcome != preview.Outcome || (err == nil) != (previewErr == nil) || err != nil && err.Error() != previewErr.Error() {
				t.Errorf("%s: done %+v, %v; preview %+v, %v", test.name, done, err, preview, previewErr)
			}
		}
	})
}

func TestParseChunk(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]uint16{"0": 0, "7": 7, "65535": 65535} {
		if got, err := warm.ParseChunk(text); got != want || err != nil {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "65536", "-1", "+1", "01", "00", " 1", "1 ", "1e2", "0x1", "1.0", "१"} {
		_, err := warm.ParseChunk(text)
		wantKind(t, err, storeerr.Invalid)
	}
}
