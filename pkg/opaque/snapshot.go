package opaque

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// SnapshotTTL is how long a snapshot stays open after it was opened or
// renewed.
const SnapshotTTL = time.Minute

// Snapshot is a moment of the store that scans read.
type Snapshot struct {
	ID       string
	Now      int64  // the moment: the server's time in ms
	Boundary string // the sequence that it reads at, in decimal
	Prefix   string // the scan's prefix
}

// OpenSnapshot opens a snapshot for a prefix. The errors are
// storeerr.Capacity where 4,096 are open, and Integrity where the store's
// counter is lost.
func (s *Store) OpenSnapshot(ctx context.Context, prefix string) (Snapshot, error) {
	if err := checkPrefix(prefix); err != nil {
		return Snapshot{}, err
	}
	id := uuid.NewString()
	keys := []string{s.keys.Sequence(), s.keys.Index(), s.keys.SnapshotExpiry(), s.keys.SnapshotBoundary(), s.keys.Scan(id)}
	reply, err := luascripts.Must("opaque_snapshot_open").Run(ctx, s.rdb, keys, id, prefix).StringSlice()
	if err != nil {
		if ctx.Err() != nil {
			// It may be open although the answer was not waited for.
			s.abandon(ctx, id)
		}
		return Snapshot{}, storeerr.FromRedis(err, storeerr.Reads, "opening a snapshot")
	}
	switch reply[0] {
	case "capacity":
		return Snapshot{}, storeerr.New(storeerr.Capacity, "%s snapshots are open, the limit is %d", reply[1], MaxSnapshots).
			WithHint("end some with `keyspacectl snapshot drop`, or scan with --live")
	case "integrity":
		place, err := strconv.Atoi(reply[1])
		if err != nil {
			return Snapshot{}, fmt.Errorf("reading the answer: %w", err)
		}
		return Snapshot{}, storeerr.New(storeerr.Integrity, "cannot open a snapshot: %s", reply[2]).AtKey(keys[place-1])
	}
	now, err := parseMilliseconds(reply[1])
	return Snapshot{ID: id, Now: now, Boundary: reply[2], Prefix: prefix}, err
}

// RenewSnapshot keeps a snapshot open for another SnapshotTTL. The error is
// storeerr.Expired when it has ended; then nothing of it is left.
func (s *Store) RenewSnapshot(ctx context.Context, id string) error {
	reply, err := luascripts.Must("opaque_snapshot_renew").Run(ctx, s.rdb, s.snapshotKeys(id), id).Text()
	if err != nil {
		return storeerr.FromRedis(err, storeerr.Writes, "renewing the snapshot")
	}
	if reply == "expired" {
		return expired(id)
	}
	return nil
}

// DropSnapshot ends a snapshot now. It is no error when there is none:
// existed says whether there was.
func (s *Store) DropSnapshot(ctx context.Context, id string) (existed bool, err error) {
	removed, err := luascripts.Must("opaque_snapshot_close").Run(ctx, s.rdb, s.snapshotKeys(id), id).Int()
	if err != nil {
		return false, storeerr.FromRedis(err, storeerr.Writes, "ending the snapshot")
	}
	return removed > 0, nil
}

// closeTimeout bounds the closing of a snapshot after its reader was cancelled.
const closeTimeout = 2 * time.Second

// abandon ends a snapshot, also when ctx has ended already. A failure leaves
// the snapshot to run out by itself within SnapshotTTL.
func (s *Store) abandon(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	_, _ = s.DropSnapshot(ctx, id)
}

// HasSnapshot says whether DropSnapshot would find anything to end.
func (s *Store) HasSnapshot(ctx context.Context, id string) (bool, error) {
	_, states, err := s.Snapshots(ctx)
	return slices.ContainsFunc(states, func(st SnapshotState) bool { return st.ID == id }), err
}

func (s *Store) snapshotKeys(id string) []string {
	return []string{s.keys.SnapshotExpiry(), s.keys.SnapshotBoundary(), s.keys.Scan(id)}
}

// resume finds an open snapshot by its id.
func (s *Store) resume(ctx context.Context, id string) (Snapshot, error) {
	record, err := s.rdb.HGetAll(ctx, s.keys.Scan(id)).Result()
	if err != nil {
		return Snapshot{}, storeerr.FromRedis(err, storeerr.Reads, "reading the snapshot")
	}
	if len(record) == 0 {
		return Snapshot{}, expired(id)
	}
	now, err := strconv.ParseInt(record["now"], 10, 64)
	if err != nil || record["boundary"] == "" {
		return Snapshot{}, storeerr.New(storeerr.Integrity, "the record of snapshot %s does not read", id).AtKey(s.keys.Scan(id))
	}
	return Snapshot{ID: id, Now: now, Boundary: record["boundary"], Prefix: record["prefix"]}, nil
}

func expired(id string) error {
	return storeerr.New(storeerr.Expired, "the snapshot %s is gone: rows shown so far belong to its moment", id).
		WithHint("start the scan again")
}

// SnapshotState is one snapshot as its records in Redis tell.
type SnapshotState struct {
	Snapshot
	ExpiresAt int64         // when its guard ends, ms since the epoch; 0 = no such record
	TTL       time.Duration // of its own record; 0 = no such record
	Behind    int64         // batches applied since its boundary
	Ended     bool          // it guards nothing any more, and waits to be taken out
}

// Snapshots lists the snapshots that the store knows, oldest boundary first,
// and the server's time.
func (s *Store) Snapshots(ctx context.Context) (now int64, states []SnapshotState, err error) {
	keys := []string{s.keys.Sequence(), s.keys.SnapshotExpiry(), s.keys.SnapshotBoundary()}
	reply, err := luascripts.Must("opaque_snapshots").Run(ctx, s.rdb, keys).Slice()
	if err != nil {
		return 0, nil, storeerr.FromRedis(err, storeerr.Reads, "listing snapshots")
	}
	now, err = parseMilliseconds(fmt.Sprint(reply[0]))
	if err != nil {
		return 0, nil, err
	}
	counter, err := strconv.ParseInt("0"+fmt.Sprint(reply[1]), 10, 64)
	if err != nil {
		return 0, nil, storeerr.New(storeerr.Integrity, "the counter is no integer").AtKey(s.keys.Sequence())
	}
	expiry, err := scoredMembers(texts(reply[2]))
	if err != nil {
		return 0, nil, err
	}
	boundary, err := scoredMembers(texts(reply[3]))
	if err != nil {
		return 0, nil, err
	}
	byID := map[string]*SnapshotState{}
	state := func(id string) *SnapshotState {
		if byID[id] == nil {
			byID[id] = &SnapshotState{Snapshot: Snapshot{ID: id}}
		}
		return byID[id]
	}
	for _, z := range expiry {
		st := state(z.member)
		st.ExpiresAt = int64(z.score)
		st.Ended = st.ExpiresAt <= now-endedAfter
	}
	for _, z := range boundary {
		st := state(z.member)
		st.Boundary = z.scoreText()
		st.Behind = counter - int64(z.score)
	}
	if err := s.readSnapshotRecords(ctx, byID); err != nil {
		return 0, nil, err
	}
	for _, st := range byID {
		states = append(states, *st)
	}
	slices.SortFunc(states, func(a, b SnapshotState) int {
		return cmp.Or(cmp.Compare(b.Behind, a.Behind), cmp.Compare(a.ID, b.ID))
	})
	return now, states, nil
}

// endedAfter is how many ms after its score in snapshot-expiry a snapshot has
// ended.
const endedAfter = 1000

// readSnapshotRecords fills in what the snapshots' own records say.
func (s *Store) readSnapshotRecords(ctx context.Context, byID map[string]*SnapshotState) error {
	if len(byID) == 0 {
		return nil
	}
	records := map[string]*redis.MapStringStringCmd{}
	ttls := map[string]*redis.DurationCmd{}
	_, err := s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for id := range byID {
			records[id] = p.HGetAll(ctx, s.keys.Scan(id))
			ttls[id] = p.PTTL(ctx, s.keys.Scan(id))
		}
		return nil
	})
	if err != nil {
		return storeerr.FromRedis(err, storeerr.Reads, "listing snapshots")
	}
	for id, st := range byID {
		record := records[id].Val()
		st.Prefix = record["prefix"]
		st.Now, _ = strconv.ParseInt(record["now"], 10, 64) // 0 where there is no record
		st.TTL = max(0, ttls[id].Val())
	}
	return nil
}

// Cursor is where a scan goes on: the text "<snapshot id>:<hex of a key>"
// that all drivers hand out.
type Cursor struct {
	SnapshotID string
	After      string // the last key of the index that was looked at
}

// String returns the cursor's text.
func (c Cursor) String() string { return c.SnapshotID + ":" + hex.EncodeToString([]byte(c.After)) }

// ParseCursor reads a cursor's text; the error is storeerr.Invalid.
func ParseCursor(text string) (Cursor, error) {
	id, after, ok := strings.Cut(text, ":")
	if !ok || id == "" {
		return Cursor{}, storeerr.New(storeerr.Invalid, "the cursor %q is no <snapshot id>:<hex of a key>", text)
	}
	key, err := hex.DecodeString(after)
	if err != nil || strings.ToLower(after) != after {
		return Cursor{}, storeerr.New(storeerr.Invalid, "the cursor %q does not end in lower-case hex", text)
	}
	return Cursor{SnapshotID: id, After: string(key)}, nil
}
