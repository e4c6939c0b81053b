// What a versioned store holds on one key, as the scripts tell it.

package verify

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// How much one reply brings: versions of a row, and about so many bytes.
const (
	versionsAtOnce = 16
	bytesAtOnce    = 4 << 20
)

// row is what the store held on a key at one moment.
type row struct {
	redisKey string
	key      string // logical key, empty where it is not known
	now      int64  // the server's time, in ms
	ttl      int64  // in ms, -1 without one
	kind     string // Redis's name of the type, "none" where there is no row
	versions []version
	index    entry
	mapped   entry
	due      entry // in the cleanup queue
	counter  entry
}

// version is a member of a row, without its value.
type version struct {
	opaque.Member
	score float64
	size  int   // of the value, in bytes
	first byte  // of the member
	err   error // why it does not decode, or nil
}

// entry is what a key of the bookkeeping holds on a key.
type entry struct {
	unknown bool // it cannot be told: the bookkeeping has another type
	present bool
	text    string
	score   float64
}

// read reads all that the store holds on a key, in one step. Only versions
// past the first few are read after that.
func (v *opaqueVerifier) read(ctx context.Context, redisKey, key string) (*row, error) {
	names := []string{redisKey, v.keys.Index(), v.keys.Map(), v.keys.Cleanup(), v.keys.Sequence()}
	reply, err := luascripts.Must("opaque_verify_key").Run(ctx, v.rdb, names, key, versionsAtOnce).Slice()
	if err != nil {
		return nil, storeerr.FromRedis(err, storeerr.Reads, fmt.Sprintf("looking at %q again", redisKey))
	}
	r := &row{
		redisKey: redisKey, key: key, now: parseInt(reply[0]),
		index: parseScore(reply[1]), mapped: parseEntry(reply[2]), due: parseScore(reply[3]), counter: parseEntry(reply[4]),
	}
	r.take(reply[6:])
	return r, v.readOlder(ctx, r, int(parseInt(reply[5])))
}

// take fills in {TTL, type, version, score..}.
func (r *row) take(reply []any) {
	r.ttl, r.kind = parseInt(reply[0]), text(reply[1])
	r.versions = make([]version, 0, len(reply)/2-1)
	for at := 2; at+1 < len(reply); at += 2 {
		r.add(text(reply[at]), parseScore(reply[at+1]).score)
	}
}

func (r *row) add(member string, score float64) {
	m, err := opaque.DecodeMember(member)
	z := version{Member: m, score: score, size: len(m.Value), err: err}
	if member != "" {
		z.first = member[0]
	}
	// A row with many versions would hold all their values in memory.
	z.Value = ""
	if len(member) > bytesAtOnce/1024 {
		z.Key, z.Version = strings.Clone(z.Key), strings.Clone(z.Version)
	}
	r.versions = append(r.versions, z)
}

// readOlder reads the versions that did not fit into one reply. Those that are
// written meanwhile lie above, and are not mixed in.
func (v *opaqueVerifier) readOlder(ctx context.Context, r *row, count int) error {
	for len(r.versions) < count {
		last := r.versions[len(r.versions)-1].score
		same := 0
		for _, z := range r.versions {
			if z.score == last {
				same++
			}
		}
		page, err := v.rdb.ZRevRangeByScoreWithScores(ctx, r.redisKey, &redis.ZRangeBy{
			Max: formatScore(last), Min: "-inf", Offset: int64(same), Count: versionsAtOnce,
		}).Result()
		if err != nil {
			return storeerr.FromRedis(err, storeerr.Reads, fmt.Sprintf("reading the versions of %q", r.redisKey))
		}
		for _, z := range page {
			r.add(z.Member.(string), z.Score)
		}
		if len(page) < versionsAtOnce {
			return nil
		}
	}
	return nil
}

// owner is the logical key that a row's versions tell, empty where none does.
func (v *opaqueVerifier) owner(r *row) string {
	tried := ""
	for _, z := range r.versions {
		if z.err != nil || z.Key == tried {
			continue
		}
		if v.keys.Row(z.Key) == r.redisKey {
			return z.Key
		}
		tried = z.Key
	}
	return ""
}

func text(reply any) string {
	s, _ := reply.(string)
	return s
}

// parseInt reads a number that a script gave in decimal.
func parseInt(reply any) int64 {
	n, _ := strconv.ParseInt(text(reply), 10, 64)
	return n
}

// parseEntry reads what a key holds: nil for nothing, a number from a script
// for what it could not read.
func parseEntry(reply any) entry {
	switch reply := reply.(type) {
	case string:
		return entry{present: true, text: reply}
	case nil:
		return entry{}
	}
	return entry{unknown: true}
}

// parseScore is parseEntry of a score, which servers of RESP3 send as a number
// of its own.
func parseScore(reply any) entry {
	if score, ok := reply.(float64); ok {
		return entry{present: true, score: score}
	}
	e := parseEntry(reply)
	e.score, _ = strconv.ParseFloat(e.text, 64)
	return e
}

// formatScore is a score in plain digits, as every server takes it.
func formatScore(score float64) string { return strconv.FormatFloat(score, 'f', -1, 64) }
