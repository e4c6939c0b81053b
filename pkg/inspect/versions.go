// Rows: their versions, and what makes each of them live or not.

package inspect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/legacy"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

// State is what a version is now.
type State string

// The states.
const (
	Live      State = "live"
	Tombstone State = "tombstone"
	Expired   State = "expired"
	Replaced  State = "replaced"
	Damaged   State = "damaged" // it does not decode, or is of another key
)

// Version is a version of a row, as it stands in Redis.
type Version struct {
	opaque.Member        // what it decodes to; zero where it does not
	Sequence      string // its score, in decimal; empty in layouts without one
	State         State
	Why           string // in words, for State
	Raw           string // its bytes, as they stand; empty in layouts that have none of one piece

	// Untagged: it has no format tag, so it is of an older layout. Its value may
	// then be base64 text of the value, if Ambiguous.
	Untagged  bool
	Ambiguous bool
	// Err says why it is Damaged.
	Err error
}

// versionsPage bounds one reply: a version has at most a little over 1 MiB.
const versionsPage = 16

// readVersions reads the newest versions of a row or of its quarantine.
func (r *reader) readVersions(ctx context.Context) error {
	page := &redis.ZRangeBy{Max: "+inf", Min: "-inf"}
	for len(r.Versions) < r.limit {
		page.Count = int64(min(versionsPage, r.limit-len(r.Versions)))
		members, err := r.rdb.ZRevRangeByScoreWithScores(ctx, r.RedisKey, page).Result()
		if err != nil {
			return err
		}
		for _, z := range members {
			raw, _ := z.Member.(string)
			r.addVersion(raw, scoreText(z.Score))
			// What is written meanwhile stands above, and moves nothing.
			if r.Versions[len(r.Versions)-1].Sequence == page.Max {
				page.Offset++
			} else {
				page.Max, page.Offset = scoreText(z.Score), 1
			}
		}
		if int64(len(members)) < page.Count {
			break
		}
	}
	r.More = int64(len(r.Versions)) < r.Size
	if r.Name.Role == keyspace.Row && len(r.Versions) > 0 && r.Versions[0].Err != nil && !errors.As(r.Versions[0].Err, new(otherKey)) {
		r.damaged("its newest version does not decode: once it is due for collection, every write and every new scan of other drivers fails")
	}
	return nil
}

// otherKey is the error of a version that decodes, and is of this key: not that
// of the row.
type otherKey string

func (k otherKey) Error() string { return fmt.Sprintf("it is of another key, %q", string(k)) }

// addVersion decodes the next older version.
func (r *reader) addVersion(raw, sequence string) {
	v := decodeVersion(raw, sequence)
	if v.Err == nil {
		if sum := sha256.Sum256([]byte(v.Key)); hex.EncodeToString(sum[:]) != r.Name.SHA256 {
			v.Err = otherKey(v.Key)
		} else if r.Name.Key == "" {
			r.Name.Key = v.Key
		}
	}
	v.judge(r.Versions, r.Now)
	if v.Err != nil && r.Name.Role == keyspace.Row {
		r.damaged("version at sequence %s: %w", sequence, v.Err)
	}
	r.Versions = append(r.Versions, v)
}

// decodeVersion decodes a member of the current layout, or of v3 untagged.
func decodeVersion(raw, sequence string) Version {
	v := Version{Sequence: sequence, Raw: raw}
	v.Member, v.Err = opaque.DecodeMember(raw)
	switch {
	case v.Err == nil || len(raw) == 0:
	case raw[0] == opaque.UntaggedByte:
		v.Untagged = true
		v.Member, v.Ambiguous, v.Err = legacy.DecodeMember(raw)
	case errors.Is(v.Err, opaque.ErrUnknownTag):
		v.Err = fmt.Errorf("%w 0x%02x", v.Err, raw[0])
	}
	return v
}

// judge says what the version is, given those above it.
func (v *Version) judge(newer []Version, now int64) {
	switch {
	case v.Err != nil:
		v.State, v.Why = Damaged, v.Err.Error()
	case len(newer) > 0:
		above := newer[len(newer)-1].Sequence
		v.State, v.Why = Replaced, "a newer version stands above it, of sequence "+above
		if v.Tombstone {
			v.State, v.Why = Tombstone, "a delete, and a newer version stands above it, of sequence "+above
		}
	case v.Tombstone:
		v.State, v.Why = Tombstone, "the newest version is a delete"
	case v.ExpiresAt == 0:
		v.State, v.Why = Live, "the newest version, and it never expires"
	case v.ExpiresAt > now:
		v.State, v.Why = Live, "the newest version, and it expires in "+span(v.ExpiresAt-now)
	default:
		v.State, v.Why = Expired, "the newest version, and it expired "+span(now-v.ExpiresAt)+" ago"
	}
}

// span is a number of ms in words.
func span(ms int64) string {
	const day = 24 * 60 * 60 * 1000
	if ms >= 2*day {
		return fmt.Sprintf("%d days", ms/day)
	}
	return (time.Duration(ms) * time.Millisecond).Round(time.Millisecond).String()
}

// scoreText is a score in plain digits.
func scoreText(score float64) string { return strconv.FormatFloat(score, 'f', -1, 64) }

// moment is a moment in ms, in words; a score that is none stays a number.
func moment(ms float64) string {
	if ms < 0 || ms > opaque.MaxExpiry {
		return scoreText(ms)
	}
	return time.UnixMilli(int64(ms)).UTC().Format("2006-01-02T15:04:05.000Z")
}
