// The codes of the versioned store.

package verify

// The codes of the versioned store.
const (
	OpaquePoisonRow        Code = "opaque-poison-row"
	OpaquePoisonOlder      Code = "opaque-poison-older-layout"
	OpaqueCounterMissing   Code = "opaque-counter-missing"
	OpaqueCounterInvalid   Code = "opaque-counter-invalid"
	OpaqueCounterBehind    Code = "opaque-counter-behind"
	OpaqueTTL              Code = "opaque-ttl"
	OpaqueType             Code = "opaque-type"
	OpaqueRowType          Code = "opaque-row-type"
	OpaqueMemberTag        Code = "opaque-member-tag"
	OpaqueMemberBody       Code = "opaque-member-body"
	OpaqueMemberOlder      Code = "opaque-member-older-layout"
	OpaqueMemberKey        Code = "opaque-member-key"
	OpaqueScore            Code = "opaque-score"
	OpaqueVersionAhead     Code = "opaque-version-above-counter"
	OpaqueVersionTwice     Code = "opaque-version-twice"
	OpaqueScoreTwice       Code = "opaque-score-twice"
	OpaqueIndexMissing     Code = "opaque-index-missing"
	OpaqueIndexOrphan      Code = "opaque-index-orphan"
	OpaqueIndexScore       Code = "opaque-index-score"
	OpaqueMapMissing       Code = "opaque-map-missing"
	OpaqueMapOrphan        Code = "opaque-map-orphan"
	OpaqueMapWrong         Code = "opaque-map-wrong"
	OpaqueCleanupMissing   Code = "opaque-cleanup-missing"
	OpaqueCleanupLate      Code = "opaque-cleanup-late"
	OpaqueCleanupOrphan    Code = "opaque-cleanup-orphan"
	OpaqueSnapshotRecords  Code = "opaque-snapshot-records"
	OpaqueSnapshotPinned   Code = "opaque-snapshot-pinned"
	OpaqueSnapshotBoundary Code = "opaque-snapshot-boundary"
	OpaqueSnapshotGuard    Code = "opaque-snapshot-guard"
	OpaqueBacklog          Code = "opaque-backlog"
	OpaqueExpiry           Code = "opaque-expiry"
	OpaqueLimits           Code = "opaque-limits"
	OpaqueQuarantine       Code = "opaque-quarantine"
	OpaqueUnknownKey       Code = "opaque-unknown-key"
)

// opaqueCodes is in the order of the constants: worst first.
func opaqueCodes() []Entry {
	const (
		quarantine = "moves the members that do not decode, and only those, to the quarantine of the row, with their scores"
		older      = "moves the versions of the older layout to the quarantine of the row, with their scores: their drivers lose them"
		fromRow    = "makes the entry again from the row"
		dropEntry  = "drops the entry, if there still is no row"
		snapshot   = "ends the snapshot: takes away what is left of its records"
	)
	return []Entry{
		{OpaquePoisonRow, StoreOpaque, Critical, "the newest version of a row does not decode, and the row is due for collection: every write and every new scan of the other drivers fails while no snapshot is open", Safe, quarantine},
		{OpaquePoisonOlder, StoreOpaque, Critical, "the newest version of a row is of the older layout without a format tag, and the row is due for collection: every write and every new scan of the drivers of the current layout fails while no snapshot is open", Named, older},
		{OpaqueCounterMissing, StoreOpaque, Critical, "there are rows and no counter: what other drivers write next is invisible", Safe, "sets the counter to the highest score of any row"},
		{OpaqueCounterInvalid, StoreOpaque, Critical, "the counter is no integer below 2^53: every write fails", Safe, "sets the counter to the highest score of any row; one of 2^53 or more is left alone"},
		{OpaqueCounterBehind, StoreOpaque, Critical, "the counter is lower than the score of a row: what other drivers write there next is invisible", Safe, "raises the counter to the highest score of any row"},
		{OpaqueTTL, StoreOpaque, Error, "a key that must last has a TTL: it will vanish with what is in it", Safe, "takes the TTL away"},
		{OpaqueType, StoreOpaque, Error, "a key of the bookkeeping has another type: every operation that needs it fails", Named, "deletes the key; what can be is made again from the rows"},
		{OpaqueRowType, StoreOpaque, Error, "a row is no sorted set: reads and writes of its key fail, and scans of other drivers that reach it", Safe, "renames the key to the quarantine of the row"},
		{OpaqueMemberTag, StoreOpaque, Error, "a version begins with no known format tag", Safe, quarantine},
		{OpaqueMemberBody, StoreOpaque, Error, "a version has the format tag, and its body does not decode", Safe, quarantine},
		{OpaqueMemberOlder, StoreOpaque, Error, "a version is of the older layout without a format tag", Named, older},
		{OpaqueMemberKey, StoreOpaque, Error, "a version in a row belongs to another key", Named, "moves the versions of other keys to the quarantine of the row, with their scores"},
		{OpaqueScore, StoreOpaque, Error, "the score of a version is no sequence: an integer from 1 to 2^53−1", None, "nothing: which version is newer is not known"},
		{OpaqueVersionAhead, StoreOpaque, Error, "a decimal version is above the counter and above its own score: it will be issued a second time", None, "nothing: the version may be another driver's own"},
		{OpaqueVersionTwice, StoreOpaque, Error, "two versions of a row carry one name: a condition on it is ambiguous", Named, "moves the older one to the quarantine of the row, with its score"},
		{OpaqueScoreTwice, StoreOpaque, Error, "two versions of a row have one score: which is newer depends on their bytes", None, "nothing: which was written last is not known"},
		{OpaqueIndexMissing, StoreOpaque, Error, "a row is not in the index: scans do not show it", Safe, fromRow},
		{OpaqueIndexOrphan, StoreOpaque, Error, "the index names a key that has no row", Safe, dropEntry},
		{OpaqueIndexScore, StoreOpaque, Error, "an entry of the index has a score other than 0: the order of keys is broken, scans lose rows", Safe, "sets the score to 0"},
		{OpaqueMapMissing, StoreOpaque, Error, "a row is not in the map: other drivers do not find it", Safe, fromRow},
		{OpaqueMapOrphan, StoreOpaque, Error, "the map names a key that has no row", Safe, dropEntry},
		{OpaqueMapWrong, StoreOpaque, Error, "the map leads to another key than that of the row", Safe, fromRow},
		{OpaqueCleanupMissing, StoreOpaque, Error, "older versions, a tombstone or an expiry, and no entry in the cleanup queue: nothing will collect them", Safe, "makes the entry"},
		{OpaqueCleanupLate, StoreOpaque, Error, "the cleanup queue has the row, and much later than what is in it falls due", Safe, "moves the entry to when it is due"},
		{OpaqueCleanupOrphan, StoreOpaque, Error, "the cleanup queue names a key that has no row", Safe, dropEntry},
		{OpaqueSnapshotRecords, StoreOpaque, Error, "the records of a snapshot are not all there, or do not read", Safe, snapshot},
		{OpaqueSnapshotPinned, StoreOpaque, Error, "the records of a snapshot outlive its HASH and hold history back", Safe, snapshot},
		{OpaqueSnapshotBoundary, StoreOpaque, Error, "the HASH of a snapshot and its boundary name different sequences", Safe, snapshot},
		{OpaqueSnapshotGuard, StoreOpaque, Error, "the guard of a snapshot and the TTL of its HASH do not end together", Safe, "lets both end with the one that ends first"},
		{OpaqueBacklog, StoreOpaque, Warning, "a row has 100 versions or more: at 128 every write of it is refused", None, "nothing: end the oldest snapshot, then `snapshot gc`"},
		{OpaqueExpiry, StoreOpaque, Warning, "an expiry lies past the year 9999", None, "nothing: what was meant is not known"},
		{OpaqueLimits, StoreOpaque, Warning, "a key, value or version is empty or longer than the store allows", None, "nothing: it reads, and cannot be written again"},
		{OpaqueQuarantine, StoreOpaque, Warning, "members that a repair or a migration in place put aside", None, "nothing: `migrate --in-place --retire` deletes those of a migration; look at others by `inspect`, then delete the key"},
		{OpaqueUnknownKey, StoreOpaque, Warning, "a key under the store's own name that is none of its keys", None, "nothing: it is not known whose it is"},
	}
}
