// Moving a slot of a cluster from one master to another, as an operator's tool
// does it.

package testserver

import (
	"testing"
)

// moveBatch is how many keys move in one go.
const moveBatch = 100

// Migration is a slot on its way from one master to another.
type Migration struct {
	cluster  *Cluster
	slot     int
	from, to int
}

// MigrateSlot moves a slot and its keys between masters, named by their places
// in Masters.
func (c *Cluster) MigrateSlot(t testing.TB, slot, from, to int) {
	t.Helper()
	m := c.BeginMigration(t, slot, from, to)
	for m.MoveKeys(t, moveBatch) {
	}
	m.Finish(t)
}

// BeginMigration opens a slot: from now on its master sends clients that ask
// for a key which it does not have to the other master (ASK), and for several
// keys of which it has some away (TRYAGAIN).
func (c *Cluster) BeginMigration(t testing.TB, slot, from, to int) *Migration {
	t.Helper()
	if c.slots[slot] != from {
		t.Fatalf("slot %d is at master %d, not %d", slot, c.slots[slot], from)
	}
	source, target := c.Masters[from], c.Masters[to]
	target.do(t, "CLUSTER", "SETSLOT", slot, "IMPORTING", source.id(t))
	source.do(t, "CLUSTER", "SETSLOT", slot, "MIGRATING", target.id(t))
	return &Migration{cluster: c, slot: slot, from: from, to: to}
}

// MoveKeys moves up to so many keys, and tells whether there were any.
func (m *Migration) MoveKeys(t testing.TB, count int) bool {
	t.Helper()
	source, target := m.cluster.Masters[m.from], m.cluster.Masters[m.to]
	keys, err := source.client.ClusterGetKeysInSlot(t.Context(), m.slot, count).Result()
	if err != nil {
		t.Fatalf("listing the keys of slot %d: %v", m.slot, err)
	}
	if len(keys) == 0 {
		return false
	}
	move := []any{"MIGRATE", "127.0.0.1", target.port(t), "", 0, watchdog.Milliseconds(), "KEYS"}
	for _, key := range keys {
		move = append(move, key)
	}
	source.do(t, move...)
	return true
}

// Finish gives the slot to its new master. The nodes that have no part in it
// hear of it by and by.
func (m *Migration) Finish(t testing.TB) {
	t.Helper()
	source, target := m.cluster.Masters[m.from], m.cluster.Masters[m.to]
	id := target.id(t)
	target.do(t, "CLUSTER", "SETSLOT", m.slot, "NODE", id)
	source.do(t, "CLUSTER", "SETSLOT", m.slot, "NODE", id)
	m.cluster.slots[m.slot] = m.to
}
