// The snapshots of the versioned store: whether the three records of each agree.

package verify

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
)

// snapshots looks at each snapshot that the two sorted sets name. Those that
// have a HASH alone come up in the walk through the keyspace.
func (v *opaqueVerifier) snapshots(ctx context.Context) error {
	for _, key := range []string{v.keys.SnapshotExpiry(), v.keys.SnapshotBoundary()} {
		err := v.scan(ctx, v.rdb.ZScan, key, func(entries []string) error {
			var ids []string
			for i := 0; i < len(entries); i += 2 {
				ids = append(ids, entries[i])
			}
			return v.lookAtSnapshots(ctx, ids)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// scanner is ZSCAN or HSCAN.
type scanner func(ctx context.Context, key string, cursor uint64, match string, count int64) *redis.ScanCmd

// scan walks through a key of the bookkeeping. One of another type has no
// entries.
func (v *opaqueVerifier) scan(ctx context.Context, scan scanner, key string, page func(entries []string) error) error {
	for cursor := uint64(0); ; {
		entries, next, err := scan(ctx, key, cursor, "", pageSize).Result()
		if isWrongType(err) {
			return nil
		}
		if err == nil && len(entries) > 0 {
			err = page(entries)
		}
		if err != nil || next == 0 {
			return err
		}
		cursor = next
	}
}

func (v *opaqueVerifier) lookAtSnapshots(ctx context.Context, ids []string) error {
	calls := make([]luascripts.Call, len(ids))
	for i, id := range ids {
		calls[i] = luascripts.Call{Script: luascripts.Must("opaque_verify_snapshot"), Keys: v.snapshotKeys(id), Args: []any{id}}
	}
	for i, cmd := range luascripts.Pipeline(ctx, v.rdb, calls) {
		reply, err := cmd.Slice()
		if isWrongType(err) {
			continue // it is a finding already
		}
		if err == nil {
			err = v.judgeSnapshot(ids[i], reply)
		}
		if err != nil {
			return err
		}
	}
	v.looked(len(ids))
	return nil
}

func (v *opaqueVerifier) snapshotKeys(id string) []string {
	return []string{v.keys.SnapshotExpiry(), v.keys.SnapshotBoundary(), v.keys.Scan(id)}
}

// judgeSnapshot names what opaque_verify_snapshot found.
func (v *opaqueVerifier) judgeSnapshot(id string, reply []any) error {
	now, state := text(reply[0]), text(reply[1])
	expiry, boundary, readAt := orNone(reply[2]), orNone(reply[3]), orNone(reply[5])
	ttl := parseInt(reply[4])
	var f Finding
	switch state {
	case "records":
		f = v.finding(OpaqueSnapshotRecords, v.keys.Scan(id), "", "a guard, a boundary and a HASH with the same boundary",
			"guard %s, boundary %s, boundary in the HASH %s", expiry, boundary, readAt)
	case "pinned":
		f = v.finding(OpaqueSnapshotPinned, v.keys.SnapshotBoundary(), "", "no record behind its HASH",
			"no HASH, boundary %s, held until %s (now %s)", boundary, expiry, now)
	case "boundary":
		f = v.finding(OpaqueSnapshotBoundary, v.keys.Scan(id), "", "boundary "+boundary, "boundary %s", readAt)
	case "guard":
		f = v.finding(OpaqueSnapshotGuard, v.keys.SnapshotExpiry(), "", "a guard that ends about a second after the HASH",
			"a guard until %s (now %s), a HASH for %d ms", expiry, now, ttl)
	default:
		return nil
	}
	f.SnapshotID = id
	return v.found(f.mended(v.script("opaque_repair_snapshot", v.snapshotKeys(id), id)))
}

func orNone(reply any) string {
	if s := text(reply); s != "" {
		return s
	}
	return "none"
}
