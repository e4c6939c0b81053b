package transfer

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

// TestAgainChangesNothing holds that an import that is run again leaves every
// byte of the destination as it was, and that none owes a collection more than
// puts do.
func TestAgainChangesNothing(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		ctx := context.Background()
		from := newSide(t, s, "from")
		fillMixed(t, from, 700)
		text := archived(t, from, ExportOptions{})
		for _, policy := range Policies() {
			to := newSide(t, s, "to-"+string(policy))
			if policy != Fail {
				write(t, to, opaque.Put("foo", "other", opaque.Never()), opaque.Put("foo/", "other", opaque.After(time.Minute)))
			}
			o := ReadOptions{ImportOptions: ImportOptions{OnConflict: policy, Verify: true}}
			first, err := imports(to, text, o)
			if err != nil {
				t.Fatal(err)
			}
			before := contents(t, to)
			again, err := imports(to, text, o)
			if want := (Summary{Unchanged: first.Done() - first.Skipped, Skipped: first.Skipped, NotUTF8: first.NotUTF8}); err != nil || counts(again) != want {
				t.Errorf("%s, again: %+v, %v, want %+v", policy, again, err, want)
			}
			if after := contents(t, to); !maps.Equal(before, after) {
				t.Errorf("%s: the second import changed some of %d keys, there are %d now", policy, len(before), len(after))
			}
			due, err := to.rdb.ZRangeWithScores(ctx, to.Opaque.Keys().Cleanup(), 0, -1).Result()
			if err != nil {
				t.Fatal(err)
			}
			left := map[string]float64{}
			for _, z := range due {
				left[z.Member.(string)] = z.Score
			}
			_, rows, err := to.Opaque.Read(ctx, "expires", "foo/")
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]float64{}
			for _, r := range rows {
				if r.Row.ExpiresAt > 0 {
					want[r.Key] = float64(r.Row.ExpiresAt + 60_000)
				}
			}
			if !maps.Equal(left, want) {
				t.Errorf("%s: due for collection are %v, want %v", policy, left, want)
			}
		}
	})
}

// contents returns what each key of a side holds.
func contents(t *testing.T, side Side) map[string]string {
	t.Helper()
	ctx := context.Background()
	all := map[string]string{}
	for _, pattern := range []string{side.Prefix + ":*", "{" + side.Prefix + "|*"} {
		keys := side.rdb.Scan(ctx, 0, pattern, 1000).Iterator()
		for keys.Next(ctx) {
			all[keys.Val()] = content(ctx, side.rdb, keys.Val())
		}
		if err := keys.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func content(ctx context.Context, rdb redis.UniversalClient, key string) string {
	text := rdb.Dump(ctx, key)
	return strings.Join([]string{text.Val(), rdb.ExpireTime(ctx, key).Val().String()}, " ")
}
