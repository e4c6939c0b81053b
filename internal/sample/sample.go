// Package sample fills the three stores with data as applications keep it, for
// trying things out: nodes and leases of a small mesh, payloads cut into
// chunks, and bitmaps of who is online.
package sample

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// Fill writes the sample under a prefix, and says whether it did: a database
// that holds any key is left as it is. The prefix is one that all three stores
// take, else the error is [storeerr.Invalid].
func Fill(ctx context.Context, rdb redis.UniversalClient, prefix string) (filled bool, err error) {
	rows, err := opaque.New(rdb, prefix)
	if err != nil {
		return false, err
	}
	blobs, err := blob.New(rdb, prefix)
	if err != nil {
		return false, err
	}
	chunks, err := warm.New(rdb, prefix)
	if err != nil {
		return false, err
	}
	keys, err := rdb.DBSize(ctx).Result()
	if err != nil {
		return false, storeerr.FromRedis(err, storeerr.Reads, "counting keys")
	}
	if keys > 0 {
		return false, nil
	}
	if err := fillRows(ctx, rows); err != nil {
		return false, fmt.Errorf("filling the versioned store: %w", err)
	}
	if err := fillBlobs(ctx, blobs); err != nil {
		return false, fmt.Errorf("filling the blob store: %w", err)
	}
	if err := fillChunks(ctx, chunks); err != nil {
		return false, fmt.Errorf("filling the warm store: %w", err)
	}
	return true, nil
}
