package warm_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// segments returns what Segments yields, as "namespace/name=chunks".
func segments(t *testing.T, store *warm.Store, namespace *string) (found []string, errs []error) {
	t.Helper()
	for info, err := range store.Segments(t.Context(), namespace) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		found = append(found, fmt.Sprintf("%s=%d", info.Segment, info.Chunks))
	}
	return found, errs
}

// entry makes a key an index of one chunk.
func entry(t *testing.T, rdb *redis.Client, key string) {
	t.Helper()
	if err := rdb.ZAdd(t.Context(), key, redis.Z{Score: 1, Member: "1"}).Err(); err != nil {
		t.Fatal(err)
	}
}

func TestSegmentsAreSortedAndCounted(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *warm.Store) {
		for _, seg := range []warm.Segment{{"eu", "users"}, {"", "users"}, {"eu", "actors"}, {"EU", "x"}} {
			fill(t, rdb, store, seg, 3, nil)
		}
		fill(t, rdb, store, warm.Segment{Namespace: "eu", Name: "full"}, 1234, nil)
		for _, test := range []struct {
			namespace *string
			want      []string
		}{
			{nil, []string{"users=3", "EU/x=3", "eu/actors=3", "eu/full=1234", "eu/users=3"}},
			{new(""), []string{"users=3"}},
			{new("eu"), []string{"eu/actors=3", "eu/full=1234", "eu/users=3"}},
			{new("e"), nil},
		} {
			if got, errs := segments(t, store, test.namespace); !slices.Equal(got, test.want) || errs != nil {
				t.Errorf("found %q, %v, want %q", got, errs, test.want)
			}
		}
	})
}

func TestSegmentsMatchPrefixesLiterally(t *testing.T) {
	t.Parallel()
	prefixes := []string{"", "a[b]c", "abc", "a*c", "a?c", `a\c`, `a\Ec`, "Ж", "c"}
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb := s.Client(t)
		for i, prefix := range prefixes {
			fill(t, rdb, open(t, rdb, prefix), warm.Segment{Name: fmt.Sprint("s", i)}, 1, nil)
		}
		for i, prefix := range prefixes {
			want := []string{fmt.Sprintf("s%d=1", i)}
			if got, errs := segments(t, open(t, rdb, prefix), nil); !slices.Equal(got, want) || errs != nil {
				t.Errorf("prefix %q: found %q, %v, want %q", prefix, got, errs, want)
			}
		}
	})
}

func TestSegmentsLeaveOutWhatIsNone(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb := s.Client(t)
		for _, key := range []string{
			"{app|eu|a|b}idx", "{app||users}idx", "{app|eu|}idx", "{app|eu|a..b}idx", "{app|_x|users}idx",
			"{app|eu|_default}idx", "x{app|eu|users}idx", "{app|eu|users}idx2", "{app|users}idx", "{appx|eu|users}idx",
		} {
			entry(t, rdb, key)
		}
		rdb.Set(t.Context(), "{app|eu|string}idx", "x", 0)
		entry(t, rdb, "{app|eu|whole}idx")
		got, errs := segments(t, open(t, rdb, "app"), nil)
		if want := []string{"eu/whole=1"}; !slices.Equal(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
		if len(errs) != 1 {
			t.Fatalf("errors %v, want one about the string", errs)
		}
		wantKind(t, errs[0], storeerr.Integrity)
	})
}

func TestSegmentsFindMany(t *testing.T) {
	each(t, func(t *testing.T, rdb *redis.Client, store *warm.Store) {
		const n = 1200
		for i := range n {
			entry(t, rdb, store.IndexKey(warm.Segment{Name: fmt.Sprintf("s%04d", i)}))
		}
		got, errs := segments(t, store, nil)
		if len(got) != n || errs != nil || !slices.IsSorted(got) {
			t.Errorf("found %d, %v, want %d in order", len(got), errs, n)
		}
	})
}

func TestSegmentsReportAFailureOnce(t *testing.T) {
	t.Parallel()
	store := open(t, redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1}), "p")
	got, errs := segments(t, store, nil)
	if len(got) != 0 || len(errs) != 1 {
		t.Fatalf("%q, %v, want one error", got, errs)
	}
	wantKind(t, errs[0], storeerr.Unavailable)
}
