// Every violation of the versioned store, planted one by one and all together.

package verify_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/verify"
)

// plant is one violation. It is planted on a key of its own, which has a sound
// lasting row.
type plant struct {
	name string
	do   func(t *testing.T, f fixture, key string)
	// The codes found, which of them --repair mends, and what is found then.
	found, mended, left []verify.Code
	destroy             []verify.Code // codes to be named besides
}

// codes makes a list of codes.
func codes(list ...verify.Code) []verify.Code { return list }

// one is a plant of a single code that is mended.
func one(name string, code verify.Code, do func(t *testing.T, f fixture, key string)) plant {
	return plant{name: name, do: do, found: codes(code), mended: codes(code)}
}

// stays is a plant of a single code that is not mended.
func stays(name string, code verify.Code, do func(t *testing.T, f fixture, key string)) plant {
	return plant{name: name, do: do, found: codes(code), left: codes(code)}
}

// moved is a plant of a single code whose mending fills the quarantine.
func moved(name string, code verify.Code, do func(t *testing.T, f fixture, key string)) plant {
	p := one(name, code, do)
	p.left = codes(verify.OpaqueQuarantine)
	return p
}

// named is moved, where the code has to be named.
func named(name string, code verify.Code, do func(t *testing.T, f fixture, key string)) plant {
	p := moved(name, code, do)
	p.destroy = codes(code)
	return p
}

const (
	brokenTag  = "\x07 no member"
	brokenBody = "\x01\x95\xa1"
	olderBody  = "\x95\xa1k\xa1v\xa11\xff\x00"
)

// snapshotID is an id that no other plant has.
func snapshotID(key string) string { return "snapshot-" + key }

// plantSnapshot writes records of a snapshot; a guard, boundary or TTL of 0 is
// left out. The guard is from now on, in ms.
func (f fixture) plantSnapshot(t *testing.T, key string, guard, boundary, hash, ttl int64) {
	t.Helper()
	id := snapshotID(key)
	if guard != 0 {
		f.do(t, "ZADD", f.keys.SnapshotExpiry(), f.now(t)+guard, id)
	}
	if boundary != 0 {
		f.do(t, "ZADD", f.keys.SnapshotBoundary(), boundary, id)
	}
	if hash != 0 {
		f.do(t, "HSET", f.keys.Scan(id), "now", f.now(t), "boundary", hash, "prefix", "")
	}
	if ttl != 0 {
		f.do(t, "PEXPIRE", f.keys.Scan(id), ttl)
	}
}

// addVersion adds a version to a row, and what collects the older ones.
func (f fixture) addVersion(t *testing.T, key string, m opaque.Member, score any) {
	t.Helper()
	f.do(t, "ZADD", f.keys.Row(key), score, string(m.Append(nil)))
	f.do(t, "ZADD", f.keys.Cleanup(), f.now(t)+1000, key)
}

func plants() []plant {
	far := int64(253402300800000)
	return append([]plant{
		moved("poison: unknown tag", verify.OpaquePoisonRow, func(t *testing.T, f fixture, key string) {
			f.do(t, "ZADD", f.keys.Row(key), 500_000, brokenTag)
			f.do(t, "ZADD", f.keys.Cleanup(), 1, key)
		}),
		moved("poison: nothing else in the row", verify.OpaquePoisonRow, func(t *testing.T, f fixture, key string) {
			f.do(t, "DEL", f.keys.Row(key))
			f.do(t, "ZADD", f.keys.Row(key), 3, brokenBody)
			f.do(t, "ZADD", f.keys.Cleanup(), 1, key)
		}),
		named("poison: older layout", verify.OpaquePoisonOlder, func(t *testing.T, f fixture, key string) {
			f.do(t, "ZADD", f.keys.Row(key), 500_000, olderBody)
			f.do(t, "ZADD", f.keys.Cleanup(), 1, key)
		}),
		moved("poison: a string", verify.OpaquePoisonRow, func(t *testing.T, f fixture, key string) {
			f.do(t, "SET", f.keys.Row(key), "text")
			f.do(t, "ZADD", f.keys.Cleanup(), 1, key)
		}),
		moved("row of another type", verify.OpaqueRowType, func(t *testing.T, f fixture, key string) {
			f.do(t, "DEL", f.keys.Row(key))
			f.do(t, "HSET", f.keys.Row(key), "a", "b")
		}),
		moved("unknown tag", verify.OpaqueMemberTag, func(t *testing.T, f fixture, key string) {
			f.do(t, "ZADD", f.keys.Row(key), 500_000, brokenTag)
		}),
		moved("empty member", verify.OpaqueMemberTag, func(t *testing.T, f fixture, key string) {
			f.do(t, "ZADD", f.keys.Row(key), 500_000, "")
		}),
		moved("broken body below a good version", verify.OpaqueMemberBody, func(t *testing.T, f fixture, key string) {
			f.do(t, "ZADD", f.keys.Row(key), 2, brokenBody)
			f.do(t, "ZADD", f.keys.Cleanup(), 1, key)
		}),
		named("older layout", verify.OpaqueMemberOlder, func(t *testing.T, f fixture, key string) {
			f.do(t, "ZADD", f.keys.Row(key), 500_000, olderBody)
		}),
		moved("a row that nothing names and that names nothing", verify.OpaqueMemberTag, func(t *testing.T, f fixture, key string) {
			f.do(t, "ZADD", f.keys.Row("no such key"), 1, brokenTag)
		}),
		named("a version of another key", verify.OpaqueMemberKey, func(t *testing.T, f fixture, key string) {
			f.addVersion(t, key, opaque.Member{Key: "other", Version: "x"}, 2)
		}),
		named("a version twice", verify.OpaqueVersionTwice, func(t *testing.T, f fixture, key string) {
			f.addVersion(t, key, opaque.Member{Key: key, Value: "other", Version: f.version(t, key)}, 2)
		}),
		stays("a score twice", verify.OpaqueScoreTwice, func(t *testing.T, f fixture, key string) {
			f.addVersion(t, key, opaque.Member{Key: key, Version: "x"}, f.version(t, key))
		}),
		stays("a score that is no sequence", verify.OpaqueScore, func(t *testing.T, f fixture, key string) {
			f.addVersion(t, key, opaque.Member{Key: key, Version: "x"}, 46.5)
		}),
		stays("a version above the counter", verify.OpaqueVersionAhead, func(t *testing.T, f fixture, key string) {
			f.addVersion(t, key, opaque.Member{Key: key, Version: "7777777777"}, 2)
		}),
		one("a score above the counter", verify.OpaqueCounterBehind, func(t *testing.T, f fixture, key string) {
			f.addVersion(t, key, opaque.Member{Key: key, Version: "5000000"}, 5_000_000)
		}),
		one("a row that is not in the index", verify.OpaqueIndexMissing, func(t *testing.T, f fixture, key string) {
			f.do(t, "ZREM", f.keys.Index(), key)
		}),
		one("an index entry without a row", verify.OpaqueIndexOrphan, func(t *testing.T, f fixture, key string) {
			f.do(t, "ZADD", f.keys.Index(), 0, "orphan "+key)
		}),
		one("an index entry with a score", verify.OpaqueIndexScore, func(t *testing.T, f fixture, key string) {
			f.do(t, "ZADD", f.keys.Index(), 7, key)
		}),
		one("a row that is not in the map", verify.OpaqueMapMissing, func(t *testing.T, f fixture, key string) {
			f.do(t, "HDEL", f.keys.Map(), key)
		}),
		one("a map entry without a row", verify.OpaqueMapOrphan, func(t *testing.T, f fixture, key string) {
			f.do(t, "HSET", f.keys.Map(), "orphan "+key, f.keys.Row("orphan "+key))
		}),
		one("a map entry that leads elsewhere", verify.OpaqueMapWrong, func(t *testing.T, f fixture, key string) {
			f.do(t, "HSET", f.keys.Map(), key, f.keys.Row("elsewhere"))
		}),
		{
			name: "an orphaned row", found: codes(verify.OpaqueIndexMissing, verify.OpaqueMapMissing), mended: codes(verify.OpaqueIndexMissing, verify.OpaqueMapMissing),
			do: func(t *testing.T, f fixture, key string) {
				f.do(t, "ZREM", f.keys.Index(), key)
				f.do(t, "HDEL", f.keys.Map(), key)
			},
		},
		{
			name: "a row that is gone", found: codes(verify.OpaqueCleanupOrphan, verify.OpaqueIndexOrphan, verify.OpaqueMapOrphan),
			mended: codes(verify.OpaqueCleanupOrphan, verify.OpaqueIndexOrphan, verify.OpaqueMapOrphan),
			do: func(t *testing.T, f fixture, key string) {
				f.do(t, "DEL", f.keys.Row(key))
				f.do(t, "ZADD", f.keys.Cleanup(), 1, key)
			},
		},
		one("a cleanup entry for nothing", verify.OpaqueCleanupOrphan, func(t *testing.T, f fixture, key string) {
			f.do(t, "ZADD", f.keys.Cleanup(), far, "orphan "+key)
		}),
		one("a tombstone that nothing collects", verify.OpaqueCleanupMissing, func(t *testing.T, f fixture, key string) {
			f.write(t, opaque.Delete(key))
			f.do(t, "ZREM", f.keys.Cleanup(), key)
		}),
		one("an expiry that nothing collects", verify.OpaqueCleanupMissing, func(t *testing.T, f fixture, key string) {
			f.write(t, opaque.Put(key, "v", opaque.At(f.now(t)+1)))
			f.do(t, "ZREM", f.keys.Cleanup(), key)
		}),
		one("history that nothing collects", verify.OpaqueCleanupMissing, func(t *testing.T, f fixture, key string) {
			f.addVersion(t, key, opaque.Member{Key: key, Version: "older"}, 2)
			f.do(t, "ZREM", f.keys.Cleanup(), key)
		}),
		one("a tombstone that is collected too late", verify.OpaqueCleanupLate, func(t *testing.T, f fixture, key string) {
			f.write(t, opaque.Delete(key))
			f.do(t, "ZADD", f.keys.Cleanup(), far, key)
		}),
		stays("many versions", verify.OpaqueBacklog, func(t *testing.T, f fixture, key string) {
			for i := range 99 {
				f.addVersion(t, key, opaque.Member{Key: key, Version: "older-" + strconv.Itoa(i)}, float64(i+1))
			}
		}),
		stays("an expiry past the year 9999", verify.OpaqueExpiry, func(t *testing.T, f fixture, key string) {
			f.addVersion(t, key, opaque.Member{Key: key, Version: "far", ExpiresAt: far}, 2)
		}),
		stays("no version", verify.OpaqueLimits, func(t *testing.T, f fixture, key string) {
			f.addVersion(t, key, opaque.Member{Key: key}, 2)
		}),
		one("a row with a TTL", verify.OpaqueTTL, func(t *testing.T, f fixture, key string) {
			f.do(t, "PEXPIRE", f.keys.Row(key), 600_000)
		}),
		one("an index with a TTL", verify.OpaqueTTL, func(t *testing.T, f fixture, _ string) {
			f.do(t, "PEXPIRE", f.keys.Index(), 600_000)
		}),
		stays("a quarantine", verify.OpaqueQuarantine, func(t *testing.T, f fixture, key string) {
			f.do(t, "ZADD", f.quarantine(key), 1, brokenTag)
		}),
		stays("an unknown key", verify.OpaqueUnknownKey, func(t *testing.T, f fixture, key string) {
			f.do(t, "SET", f.keys.Index()+"2", key)
		}),
	}, snapshotPlants()...)
}

// snapshotPlants are records of snapshots that do not agree.
func snapshotPlants() []plant {
	snapshot := func(name string, code verify.Code, guard, boundary, hash, ttl int64) plant {
		return one(name, code, func(t *testing.T, f fixture, key string) { f.plantSnapshot(t, key, guard, boundary, hash, ttl) })
	}
	return []plant{
		snapshot("a guard alone", verify.OpaqueSnapshotRecords, 600_000, 0, 0, 0),
		snapshot("a boundary alone", verify.OpaqueSnapshotPinned, 0, 2, 0, 0),
		snapshot("guard and boundary without a HASH", verify.OpaqueSnapshotPinned, 600_000, 2, 0, 0),
		snapshot("a HASH alone", verify.OpaqueSnapshotRecords, 0, 0, 2, 600_000),
		snapshot("no guard", verify.OpaqueSnapshotRecords, 0, 2, 2, 600_000),
		snapshot("no boundary", verify.OpaqueSnapshotRecords, 600_000, 0, 2, 600_000),
		snapshot("another boundary", verify.OpaqueSnapshotBoundary, 59_000, 2, 3, 58_000),
		snapshot("a guard for ever", verify.OpaqueSnapshotGuard, 1e12, 2, 2, 60_000),
		snapshot("a HASH for ever", verify.OpaqueSnapshotGuard, 600_000, 2, 2, 0),
		snapshot("a HASH without its guard", verify.OpaqueSnapshotGuard, 10_000, 2, 2, 60_000),
		one("a snapshot of another type", verify.OpaqueSnapshotRecords, func(t *testing.T, f fixture, key string) {
			f.do(t, "SET", f.keys.Scan(snapshotID(key)), "text")
		}),
	}
}

// alonePlants cannot stand beside others.
func alonePlants() []plant {
	wrongType := func(key func(opaque.Keys) string) func(t *testing.T, f fixture, _ string) {
		return func(t *testing.T, f fixture, _ string) {
			f.do(t, "DEL", key(f.keys))
			f.do(t, "LPUSH", key(f.keys), "x")
		}
	}
	counter := func(name, value string, code verify.Code) plant {
		return one(name, code, func(t *testing.T, f fixture, _ string) { f.do(t, "SET", f.keys.Sequence(), value) })
	}
	bookkeeping := func(name string, key func(opaque.Keys) string) plant {
		// Once the key is gone, the records of the open snapshot are not whole.
		return plant{
			name: name, do: wrongType(key), found: codes(verify.OpaqueType),
			mended: codes(verify.OpaqueType, verify.OpaqueSnapshotRecords), destroy: codes(verify.OpaqueType),
		}
	}
	return []plant{
		one("no counter", verify.OpaqueCounterMissing, func(t *testing.T, f fixture, _ string) { f.do(t, "DEL", f.keys.Sequence()) }),
		counter("a counter that is no number", "many", verify.OpaqueCounterInvalid),
		counter("a counter that is negative", "-3", verify.OpaqueCounterInvalid),
		counter("a counter that is lower than a score", "1", verify.OpaqueCounterBehind),
		stays("a counter at its end", verify.OpaqueCounterInvalid, func(t *testing.T, f fixture, _ string) {
			f.do(t, "SET", f.keys.Sequence(), "9007199254740993")
		}),
		bookkeeping("guards of another type", opaque.Keys.SnapshotExpiry),
		bookkeeping("boundaries of another type", opaque.Keys.SnapshotBoundary),
	}
}

// keyOf is the key that a plant has for itself.
func (p plant) keyOf() string { return "planted/" + strings.ReplaceAll(p.name, " ", "\x00") }

// sow writes the sound row of each plant, and then breaks it.
func (f fixture) sow(t *testing.T, planted ...plant) {
	t.Helper()
	// With room for older versions below, and for newer ones up to the counter.
	f.do(t, "INCRBY", f.keys.Sequence(), 10_000)
	for _, p := range planted {
		f.write(t, opaque.Put(p.keyOf(), "good", opaque.Never()))
	}
	f.do(t, "INCRBY", f.keys.Sequence(), 1_000_000)
	for _, p := range planted {
		p.do(t, f, p.keyOf())
	}
}

// version is the version of a row that has one.
func (f fixture) version(t *testing.T, key string) string {
	t.Helper()
	_, versions, err := f.store.History(t.Context(), key)
	if err != nil || len(versions) == 0 {
		t.Fatalf("history of %q: %v, %v", key, versions, err)
	}
	return versions[0].Version
}
