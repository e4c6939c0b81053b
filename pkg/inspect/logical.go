// All that a versioned store holds on one key, and whether it agrees.

package inspect

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Holding is what a versioned store holds on a key. Places are of one moment;
// the versions in Row are read behind it.
type Holding struct {
	Key    string
	Found  bool    // any place but the counter holds something
	Row    Report  // the row's own key
	Places []Place // row, index, map, cleanup and sequence, in this order
}

// Disagreements says which places hold something else than what follows from
// the row.
func (h Holding) Disagreements() []error {
	var errs []error
	for _, p := range h.Places {
		if p.Expected != "" {
			errs = append(errs, fmt.Errorf("the %s holds %s, and should hold %s", p.Name, p.Holds, p.Expected))
		}
	}
	return errs
}

// Place is where a store keeps something on a key.
type Place struct {
	Name     string // row, index, map, cleanup or sequence
	RedisKey string
	Holds    string // in words; "nothing" where it holds nothing
	Expected string // in words, where it should hold something else
}

// Logical looks at all that the versioned store of a prefix holds on a key. A
// key on which it holds nothing is no error. The errors are storeerr.Invalid
// for a prefix or key that the store cannot have, and those of the connection.
func Logical(ctx context.Context, rdb redis.UniversalClient, prefix, key string, o Options) (Holding, error) {
	keys, err := opaque.NewKeys(prefix)
	if err != nil {
		return Holding{}, err
	}
	if len(key) == 0 || len(key) > opaque.MaxKeyBytes {
		return Holding{}, storeerr.New(storeerr.Invalid, "the key has %d bytes, it may have 1 to %d", len(key), opaque.MaxKeyBytes)
	}
	names := []string{keys.Row(key), keys.Index(), keys.Map(), keys.Cleanup(), keys.Sequence()}
	reply, err := luascripts.Must("opaque_verify_key").Run(ctx, rdb, names, key, 1).Slice()
	if err != nil {
		return Holding{}, storeerr.FromRedis(err, storeerr.Reads, fmt.Sprintf("inspecting key %q", key))
	}
	held, err := readHeld(reply, key)
	if err != nil {
		return Holding{}, err
	}
	h := Holding{Key: key, Found: held.exists()}
	if h.Row, err = Key(ctx, rdb, names[0], o); err != nil {
		return h, err
	}
	for i, place := range []struct {
		name  string
		judge func() (holds, expected string)
	}{
		{"row", held.row},
		{"index", held.index},
		{"map", func() (string, string) { return held.mapped(names[0]) }},
		{"cleanup", held.cleanup},
		{"sequence", held.sequence},
	} {
		p := Place{Name: place.name, RedisKey: names[i]}
		p.Holds, p.Expected = place.judge()
		h.Places = append(h.Places, p)
	}
	return h, nil
}

// held is the answer of opaque_verify_key. A place is nil where it holds
// nothing, and int64(1) where its key is of another type.
type held struct {
	now        int64
	places     [4]any // index, map, cleanup, counter
	count, ttl int64
	kind       string
	newest     *Version
}

func readHeld(reply []any, key string) (held, error) {
	h := held{}
	copy(h.places[:], reply[1:5])
	h.kind = fmt.Sprint(reply[7])
	for i, n := range map[int]*int64{0: &h.now, 5: &h.count, 6: &h.ttl} {
		var err error
		if *n, err = strconv.ParseInt(fmt.Sprint(reply[i]), 10, 64); err != nil {
			return h, fmt.Errorf("reading the answer: %w", err)
		}
	}
	if len(reply) > 9 {
		v := decodeVersion(fmt.Sprint(reply[8]), fmt.Sprint(reply[9]))
		if v.Err == nil && v.Key != key {
			v.Err = otherKey(v.Key)
		}
		v.judge(nil, h.now)
		h.newest = &v
	}
	return h, nil
}

func (h held) exists() bool {
	return h.kind != "none" || h.places[0] != nil || h.places[1] != nil || h.places[2] != nil
}

const (
	nothing   = "nothing"
	otherType = "a key of another type"
)

// holds is what a place holds in words, and whether that is a text at all.
func (h held) holds(place int) (text string, ok bool) {
	switch v := h.places[place].(type) {
	case nil:
		return nothing, false
	case string:
		return v, true
	}
	return otherType, false
}

func (h held) row() (holds, expected string) {
	switch {
	case h.kind == "none":
		return nothing, ""
	case h.newest == nil:
		return "a key of type " + h.kind, "a sorted set"
	case h.count == 1:
		holds = "1 version, " + string(h.newest.State)
	default:
		holds = fmt.Sprintf("%d versions, the newest %s", h.count, h.newest.State)
	}
	switch {
	case errors.As(h.newest.Err, new(otherKey)):
		expected = "a newest version of its own key"
	case h.newest.Err != nil:
		expected = "a newest version that decodes"
	case h.ttl >= 0:
		holds, expected = holds+", with a time to live", "no time to live"
	}
	return holds, expected
}

func (h held) index() (holds, expected string) {
	score, ok := h.holds(0)
	switch {
	case ok && h.count == 0:
		return "the key", nothing
	case ok && score != "0":
		return "the key, at score " + score, "the key, at score 0"
	case ok:
		return "the key", ""
	case score == otherType, h.count > 0:
		return score, "the key"
	}
	return score, ""
}

func (h held) mapped(row string) (holds, expected string) {
	found, ok := h.holds(1)
	switch {
	case ok && h.count == 0:
		return found, nothing
	case ok && found == row:
		return "the key of the row", ""
	case ok, found == otherType, h.count > 0:
		return found, row
	}
	return found, ""
}

// What collection is given (docs/storage.md): a row that expired goes after a
// minute, anything else that can go after a second.
const (
	expiredAfter = 60_000
	dueAfter     = 1000
)

func (h held) cleanup() (holds, expected string) {
	score, ok := h.holds(2)
	due := 0.0
	if ok {
		due, _ = strconv.ParseFloat(score, 64) // Redis knows no score that is none
		holds = "due at " + moment(due)
	} else {
		holds = score
	}
	latest := h.now + dueAfter
	switch {
	case score == otherType:
		return holds, "a sorted set"
	case h.newest == nil:
		if ok {
			expected = nothing
		}
		return holds, expected
	case h.newest.Err != nil:
		return holds, "" // who knows
	case h.count == 1 && h.newest.State == Live && h.newest.ExpiresAt == 0:
		if ok {
			expected = nothing
		}
		return holds, expected
	case h.count == 1 && !h.newest.Tombstone:
		latest = max(latest, h.newest.ExpiresAt+expiredAfter)
	}
	if !ok || due > float64(latest) {
		expected = "due at " + moment(float64(latest)) + " or before"
	}
	return holds, expected
}

func (h held) sequence() (holds, expected string) {
	counter, ok := h.holds(3)
	switch {
	case counter == otherType:
		return counter, "a number"
	case h.newest == nil:
		return counter, ""
	}
	n, err := strconv.ParseInt(counter, 10, 64)
	top, topErr := strconv.ParseFloat(h.newest.Sequence, 64)
	if !ok || err != nil || topErr == nil && float64(n) < top {
		expected = "a number of at least " + h.newest.Sequence
	}
	return counter, expected
}
