package blob_test

import (
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func TestPutAfterLostAnswer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		// meanwhile is what another client does with the key.
		meanwhile func(t *testing.T, other *blob.Store)
		outcome   blob.Outcome
		kind      storeerr.Kind
	}{
		{"it went through", nil, blob.AlreadyStored, ""},
		{"it is gone again", func(t *testing.T, other *blob.Store) {
			if _, err := other.Delete(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		}, blob.Stored, ""},
		{"others took its place", func(t *testing.T, other *blob.Store) {
			if _, err := other.Delete(t.Context(), "a"); err != nil {
				t.Error(err)
			}
			mustPut(t, other, "a", "theirs")
		}, "", storeerr.UnknownOutcome},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			testserver.Each(t, func(t *testing.T, s testserver.Server) {
				prefix := s.Prefix(t)
				other := open(t, s.Client(t), prefix)
				rdb := s.Client(t)
				rdb.AddHook(&lost{after: func() {
					if test.meanwhile != nil {
						test.meanwhile(t, other)
					}
				}})
				result, err := open(t, rdb, prefix).Put(t.Context(), "a", []byte("ours"), 60000)
				wantKind(t, err, test.kind)
				if result.Outcome != test.outcome {
					t.Errorf("outcome %q, want %q", result.Outcome, test.outcome)
				}
			})
		})
	}
}

func TestServerThatCutsBulks(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t, "--proto-max-bulk-len", "1mb")
	rdb := s.Client(t)
	store := open(t, rdb, s.Prefix(t))
	_, err := store.Put(t.Context(), "a", make([]byte, 2<<20), 60000)
	wantKind(t, err, storeerr.Invalid)
	if n := rdb.DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

func TestServerOutOfMemory(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t, "--maxmemory", "1", "--maxmemory-policy", "noeviction")
	rdb := s.Client(t)
	_, err := open(t, rdb, s.Prefix(t)).Put(t.Context(), "a", []byte("x"), 60000)
	wantKind(t, err, storeerr.OutOfMemory)
	if n := rdb.DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}
