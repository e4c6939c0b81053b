// What goes wrong in stores, for trying out how it is found and mended.

package sample

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// PoisonedKey is the key whose newest version [Break] makes unreadable.
const PoisonedKey = "owner-lease\x00payments"

// Break damages the sample that [Fill] has written, in all three stores, in
// ways that are seen in the field: half a restore, an eviction, an editor of
// keys, a driver of a later version.
func Break(ctx context.Context, rdb redis.UniversalClient, prefix string) error {
	rows, err := opaque.New(rdb, prefix)
	if err != nil {
		return err
	}
	blobs, err := blob.New(rdb, prefix)
	if err != nil {
		return err
	}
	chunks, err := warm.New(rdb, prefix)
	if err != nil {
		return err
	}
	// An older state of the lease, which a repair brings back to light.
	written, err := rows.Write(ctx, opaque.Batch{Mutations: []opaque.Mutation{lease("payments", 1)}})
	if err != nil {
		return fmt.Errorf("breaking the versioned store: %w", err)
	}
	newest, err := strconv.Atoi(written.Version)
	if err != nil {
		return fmt.Errorf("breaking the versioned store: %w", err)
	}
	for _, store := range []struct {
		name     string
		breaking func(p redis.Pipeliner)
	}{
		{"versioned", func(p redis.Pipeliner) { breakRows(ctx, p, rows.Keys(), newest, written.Now) }},
		{"blob", func(p redis.Pipeliner) { breakBlobs(ctx, p, blobs) }},
		{"warm", func(p redis.Pipeliner) { breakChunks(ctx, p, chunks) }},
	} {
		_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			store.breaking(p)
			return nil
		})
		if err != nil {
			return storeerr.FromRedis(err, storeerr.Writes, "breaking the "+store.name+" store")
		}
	}
	return nil
}

func breakRows(ctx context.Context, p redis.Pipeliner, keys opaque.Keys, newest int, now int64) {
	// The newest version has a tag that no driver of today knows, and is due.
	unreadable := opaque.Member{Key: PoisonedKey, Value: `{"recordVersion":"2"}`, Version: strconv.Itoa(newest + 1)}.Append(nil)
	unreadable[0] = 0x02
	p.ZAdd(ctx, keys.Row(PoisonedKey), redis.Z{Score: float64(newest + 1), Member: unreadable})
	p.ZAdd(ctx, keys.Cleanup(), redis.Z{Score: float64(now - time.Minute.Milliseconds()), Member: PoisonedKey})
	// The counter is an old one.
	p.Set(ctx, keys.Sequence(), newest-2, 0)
	// A row that nothing names, and a name that leads to no row.
	orphan, dangling := key("fanout-publisher", "prices", nodeB), key("mesh-node", "eu", "d19b03a7725ce4f8")
	p.ZRem(ctx, keys.Index(), orphan)
	p.HDel(ctx, keys.Map(), orphan)
	p.ZAdd(ctx, keys.Index(), redis.Z{Member: dangling})
	p.HSet(ctx, keys.Map(), dangling, keys.Row(dangling))
	// A snapshot of which only the boundary is left pins history for ever.
	p.ZAdd(ctx, keys.SnapshotBoundary(), redis.Z{Score: 1, Member: "7d1f0c52-9e0b-4c57-8f3e-2a6b1d94e013"})
}

func breakBlobs(ctx context.Context, p redis.Pipeliner, store *blob.Store) {
	p.SetRange(ctx, store.Key("relocation/world-7/1"), 4096, "\x00\x00\x00\x00")
	p.Persist(ctx, store.Key("notes/readme"))
}

func breakChunks(ctx context.Context, p redis.Pipeliner, store *warm.Store) {
	users, online := warm.Segment{Name: "users"}, warm.Segment{Namespace: "eu", Name: "online"}
	p.ZAdd(ctx, store.IndexKey(users), redis.Z{Score: 7, Member: 7}) // the chunk is gone
	p.ZRem(ctx, store.IndexKey(users), 12)                           // the chunk is there
	p.Expire(ctx, store.IndexKey(online), 24*time.Hour)
	p.HSet(ctx, store.ChunkKey(online, 0), "b", "\x01\x12\x00\x00\x00:0\x00\x00") // cut short
}
