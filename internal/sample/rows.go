// The versioned store: what a mesh of nodes keeps in it. Its logical keys are
// split with NUL.

package sample

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

// The nodes of the mesh, by their ids.
const (
	nodeA = "a0f3c951d2e84b67"
	nodeB = "b7e2104c88f1d93a"
	nodeC = "c4580e6fa7132b9d"
)

// fillRows writes one batch, opens a snapshot, and goes on writing: the
// snapshot keeps what was replaced and deleted, for as long as it lasts.
func fillRows(ctx context.Context, store *opaque.Store) error {
	if _, err := store.Write(ctx, opaque.Batch{Mutations: mesh()}); err != nil {
		return err
	}
	if _, err := store.OpenSnapshot(ctx, key("mesh-node", "eu", "")); err != nil {
		return err
	}
	for _, m := range []opaque.Mutation{
		opaque.Delete(key("mesh-node", "eu", nodeC)),
		opaque.Put(key("mesh-node", "eu", nodeB), node(nodeB, 7102, "draining"), opaque.Never()),
		lease("orders", 2),
		lease("orders", 3),
		opaque.Put("zlink:v11:owner-counter", "18", opaque.Never()),
	} {
		if _, err := store.Write(ctx, opaque.Batch{Mutations: []opaque.Mutation{m}}); err != nil {
			return err
		}
	}
	return nil
}

func mesh() []opaque.Mutation {
	put := func(key, value string) opaque.Mutation { return opaque.Put(key, value, opaque.Never()) }
	return []opaque.Mutation{
		put(key("mesh-node", "eu", nodeA), node(nodeA, 7101, "ready")),
		put(key("mesh-node", "eu", nodeB), node(nodeB, 7102, "ready")),
		put(key("mesh-node", "eu", nodeC), node(nodeC, 7103, "ready")),
		lease("orders", 1),
		lease("billing", 1),
		put(key("client-server", "orders", nodeA), fmt.Sprintf(`{"rid":"%s","channel":"orders","endpoint":"10.0.0.1:7201"}`, nodeA)),
		put(key("fanout-publisher", "prices", nodeB), fmt.Sprintf(`{"rid":"%s","channel":"prices","sequence":"90210"}`, nodeB)),
		put(key("authority", "actor", "cart-481"), fmt.Sprintf(`{"owner":"%s","revision":"4","payload":"eyJpdGVtcyI6M30="}`, nodeA)),
		put(key("authority", "spot", "münchen-3"), fmt.Sprintf(`{"owner":"%s","revision":"11","payload":"AAECAw=="}`, nodeB)),
		put("zlink:v11:owner-counter", "17"),
		put("zlink:v11:object-counter", "4096"),
		put("zlink:v11:capacity:eu:"+nodeA, `{"active":12,"pending":1}`),
		opaque.Put(key("creation-terminal", nodeA, "4", strings.Repeat("e5", 16)), "\x01\x00\xfe\xff done", opaque.After(7*24*time.Hour)),
	}
}

// key joins segments as applications do.
func key(segments ...string) string { return strings.Join(segments, "\x00") }

func node(rid string, port int, state string) string {
	return fmt.Sprintf(`{"rid":"%s","mesh":"eu","endpoint":"10.0.0.1:%d","state":"%s"}`, rid, port, state)
}

// lease is one that its owner would renew long before it ends.
func lease(owner string, generation int) opaque.Mutation {
	value := fmt.Sprintf(`{"recordVersion":"1","ownerId":"%s","leaseGeneration":"%d"}`, owner, generation)
	return opaque.Put(key("owner-lease", owner), value, opaque.After(24*time.Hour))
}
