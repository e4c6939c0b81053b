// Judging what the versioned store holds on one key: pure functions of a row.

package verify

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

const (
	backlogNear  = 100    // versions of a row that are worth a warning
	olderTag     = 0x95   // the first byte of the layout without a format tag
	dueSoon      = 1000   // ms until history and tombstones fall due
	expiredDelay = 60_000 // ms after its expiry that a row falls due
	lateness     = 60_000 // ms that an entry of the queue may be late: clocks differ
)

// judge returns what is wrong with a row. For a sound one it allocates nothing.
func (v *opaqueVerifier) judge(r *row) []Finding {
	if r.kind == "none" {
		return v.judgeNothing(r)
	}
	var found []Finding
	if r.kind != "zset" {
		found = append(found, v.judgeType(r))
	}
	found = v.judgeDamage(found, r)
	found = v.judgeVersions(found, r)
	if r.ttl >= 0 {
		f := v.finding(OpaqueTTL, r.redisKey, r.key, "no TTL", "it vanishes in %d ms", r.ttl)
		found = append(found, f.mended(v.persist(r.redisKey)))
	}
	if len(r.versions) >= backlogNear {
		found = append(found, v.finding(OpaqueBacklog, r.redisKey, r.key,
			fmt.Sprintf("fewer than %d versions", backlogNear), "%d versions", len(r.versions)))
	}
	return v.judgeEntries(found, r)
}

// judgeNothing looks at the entries of a key without a row.
func (v *opaqueVerifier) judgeNothing(r *row) (found []Finding) {
	for _, e := range []struct {
		entry
		code Code
		in   string
	}{{r.index, OpaqueIndexOrphan, "index"}, {r.mapped, OpaqueMapOrphan, "map"}, {r.due, OpaqueCleanupOrphan, "cleanup"}} {
		if e.present {
			f := v.finding(e.code, v.bookkeepingKey(e.in), r.key, "a row at "+r.redisKey, "an entry, and no row")
			found = append(found, f.mended(v.mendEntry(r, e.in)))
		}
	}
	return found
}

// judgeType names a row of another type.
func (v *opaqueVerifier) judgeType(r *row) Finding {
	code := OpaqueRowType
	if r.isDue() {
		code = OpaquePoisonRow
	}
	f := v.finding(code, r.redisKey, r.key, "a zset", "a %s", r.kind).mended(v.quarantine(r, "type"))
	f.Repair = OpaqueRowType.entry().Repair
	return f
}

// isDue tells whether a collection would look at the row now.
func (r *row) isDue() bool { return r.due.present && r.due.score <= float64(r.now) }

// judgeDamage names versions that do not decode, one finding of a row for each
// way, or a single one where they poison the store.
func (v *opaqueVerifier) judgeDamage(found []Finding, r *row) []Finding {
	var how [3][]version
	damaged := 0
	for _, z := range r.versions {
		if z.err == nil {
			continue
		}
		damaged++
		switch {
		case errors.Is(z.err, opaque.ErrMalformed):
			how[0] = append(how[0], z)
		case z.first == olderTag:
			how[1] = append(how[1], z)
		default:
			how[2] = append(how[2], z)
		}
	}
	if damaged == 0 {
		return found
	}
	newest := r.versions[0]
	if newest.err != nil && r.isDue() {
		code, what := OpaquePoisonRow, "undecodable"
		if newest.first == olderTag {
			code, what = OpaquePoisonOlder, "older"
		}
		f := v.finding(code, r.redisKey, r.key, "versions that decode",
			"%s; %d of %d versions do not decode", newest.damage(), damaged, len(r.versions))
		return append(found, f.mended(v.quarantine(r, what)))
	}
	for i, code := range []Code{OpaqueMemberBody, OpaqueMemberOlder, OpaqueMemberTag} {
		if len(how[i]) == 0 {
			continue
		}
		f := v.finding(code, r.redisKey, r.key, "versions that decode", "%s", how[i][0].damage())
		if n := len(how[i]); n > 1 {
			f.Found += fmt.Sprintf("; %d versions like it", n)
		}
		what := "undecodable"
		if code == OpaqueMemberOlder {
			what = "older"
		}
		found = append(found, f.mended(v.quarantine(r, what)))
	}
	return found
}

// damage says how a version does not decode.
func (z version) damage() string {
	at := "the version of score " + formatScore(z.score)
	switch {
	case errors.Is(z.err, opaque.ErrMalformed):
		return at + " has a body that does not decode"
	case z.first == olderTag:
		return at + " is of the layout without a format tag"
	}
	return fmt.Sprintf("%s begins with the byte 0x%02x", at, z.first)
}

// judgeVersions looks at the versions that decode, and at how they go together.
func (v *opaqueVerifier) judgeVersions(found []Finding, r *row) []Finding {
	counter, counted := parseCounter(r.counter)
	for i, z := range r.versions {
		at := formatScore(z.score)
		if !isSequence(z.score) {
			found = append(found, v.finding(OpaqueScore, r.redisKey, r.key, "an integer from 1 to 2^53−1", "a version of score %s", at))
		}
		if z.err != nil {
			continue
		}
		if z.Key != r.key {
			f := v.finding(OpaqueMemberKey, r.redisKey, r.key, "versions of the row's own key", "the version of score %s is of the key %q", at, z.Key)
			if r.key != "" {
				f = f.mended(v.quarantine(r, "foreign"))
			}
			found = append(found, f)
		}
		if n, ok := decimal(z.Version); ok && counted && n > counter && float64(n) > z.score {
			found = append(found, v.finding(OpaqueVersionAhead, r.redisKey, r.key,
				fmt.Sprintf("a version up to the counter, %d", counter), "version %s at score %s", z.Version, at))
		}
		if z.ExpiresAt > opaque.MaxExpiry {
			found = append(found, v.finding(OpaqueExpiry, r.redisKey, r.key, "an expiry before the year 10000", "%d ms", z.ExpiresAt))
		}
		if reason := z.beyondLimits(); reason != "" {
			found = append(found, v.finding(OpaqueLimits, r.redisKey, r.key, "a key, value and version within the limits", "%s", reason))
		}
		for _, newer := range r.versions[:i] {
			switch {
			case newer.err != nil:
			case newer.Version == z.Version && z.Version != "":
				f := v.finding(OpaqueVersionTwice, r.redisKey, r.key, "each version once", "version %q at the scores %s and %s", z.Version, at, formatScore(newer.score))
				found = append(found, f.mended(v.quarantine(r, "repeated")))
			case newer.score == z.score:
				found = append(found, v.finding(OpaqueScoreTwice, r.redisKey, r.key, "each score once", "score %s of the versions %q and %q", at, z.Version, newer.Version))
			}
		}
	}
	return found
}

// isSequence tells whether a score is one that a counter can have reached.
func isSequence(score float64) bool {
	return score >= 1 && score < 1<<53 && score == math.Trunc(score)
}

func (z version) beyondLimits() string {
	switch {
	case len(z.Key) == 0 || len(z.Key) > opaque.MaxKeyBytes:
		return fmt.Sprintf("a key of %d bytes", len(z.Key))
	case z.size > opaque.MaxValueBytes:
		return fmt.Sprintf("a value of %d bytes", z.size)
	case len(z.Version) == 0 || len(z.Version) > opaque.MaxVersionBytes:
		return fmt.Sprintf("a version of %d bytes", len(z.Version))
	}
	return ""
}

// judgeEntries holds index, map and queue against a row that has a version of
// its key. Nothing should lead to one that has none.
func (v *opaqueVerifier) judgeEntries(found []Finding, r *row) []Finding {
	if !r.hasOwnVersion() {
		return found
	}
	entry := func(code Code, in, expected, format string, args ...any) {
		f := v.finding(code, v.bookkeepingKey(in), r.key, expected, format, args...)
		found = append(found, f.mended(v.mendEntry(r, in)))
	}
	switch {
	case r.index.unknown:
	case !r.index.present:
		entry(OpaqueIndexMissing, "index", "an entry for the row "+r.redisKey, "none")
	case r.index.score != 0:
		entry(OpaqueIndexScore, "index", "score 0", "score %s", formatScore(r.index.score))
	}
	switch {
	case r.mapped.unknown:
	case !r.mapped.present:
		entry(OpaqueMapMissing, "map", r.redisKey, "none")
	case r.mapped.text != r.redisKey:
		entry(OpaqueMapWrong, "map", r.redisKey, "%s", r.mapped.text)
	}
	due, why := r.mustBeCollected()
	switch {
	case why == "" || r.due.unknown:
	case !r.due.present:
		entry(OpaqueCleanupMissing, "cleanup", "an entry: the row has "+why, "none")
	case r.due.score > float64(due+lateness):
		entry(OpaqueCleanupLate, "cleanup", fmt.Sprintf("an entry by %d: the row has %s", due, why), "one at %s", formatScore(r.due.score))
	}
	return found
}

// hasOwnVersion tells whether a version of the row is of the row's key.
func (r *row) hasOwnVersion() bool {
	return slices.ContainsFunc(r.versions, func(z version) bool { return z.err == nil && z.Key == r.key && r.key != "" })
}

// mustBeCollected says when the row falls due, in ms, and why; never where it
// has only a version that lasts, or where its newest one does not decode: an
// entry for that would poison the store.
func (r *row) mustBeCollected() (due int64, why string) {
	newest := r.versions[0]
	switch {
	case newest.err != nil || newest.Key != r.key:
		return 0, ""
	case newest.Tombstone:
		return r.now + dueSoon, "a tombstone"
	case len(r.versions) > 1:
		return r.now + dueSoon, "older versions"
	case newest.ExpiresAt > 0 && newest.ExpiresAt <= opaque.MaxExpiry:
		return max(r.now+dueSoon, newest.ExpiresAt+expiredDelay), "an expiry"
	}
	return 0, ""
}

// parseCounter reads the counter; it does not count where it is missing or no
// integer.
func parseCounter(e entry) (int64, bool) {
	if !e.present {
		return 0, false
	}
	return decimal(e.text)
}

// decimal reads a number as scripts issue it: canonical, below 2^53.
func decimal(s string) (int64, bool) {
	if s == "" || len(s) > 16 || strings.Trim(s, "0123456789") != "" || s[0] == '0' && s != "0" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n < 1<<53
}
