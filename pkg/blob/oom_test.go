package blob

import (
	"context"
	"errors"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// A server that is full refuses transactions, reads and all: what is there can
// be read all the same.
func TestReadsWhenOutOfMemory(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	server := testserver.Real(t)
	rdb := server.Client(t)
	store, err := New(rdb, server.Prefix(t))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := store.Put(ctx, "r", []byte("bytes"), 60_000)
	if err != nil {
		t.Fatal(err)
	}
	if err := rdb.ConfigSet(ctx, "maxmemory", "1mb").Err(); err != nil {
		t.Fatal(err)
	}
	blob, err := store.Read(ctx, "r")
	if err != nil || string(blob.Payload) != "bytes" || blob.Size != 5 || blob.ExpiresAt < stored.ExpiresAt-30_000 || blob.ExpiresAt > stored.ExpiresAt+30_000 {
		t.Errorf("read %+v, %v, want what was stored to %d", blob, err, stored.ExpiresAt)
	}
	if _, err := store.Read(ctx, "none"); !errors.Is(err, storeerr.NotFound) {
		t.Errorf("a missing blob: %v", err)
	}
	if stat, err := store.Stat(ctx, "r"); err != nil || stat.Size != 5 {
		t.Errorf("stat %+v, %v", stat, err)
	}
	for info, err := range store.List(ctx, "") {
		if err != nil || info.Reference != "r" {
			t.Errorf("listed %+v, %v", info, err)
		}
	}
	if _, err := store.Put(ctx, "new", []byte("bytes"), 60_000); !errors.Is(err, storeerr.OutOfMemory) {
		t.Errorf("put: %v, want out of memory", err)
	}
	if _, err := store.Read(ctx, "new"); !errors.Is(err, storeerr.NotFound) {
		t.Errorf("the refused blob: %v", err)
	}
}
