// What the script warm_verify tells of a segment.

package verify

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// replyBytes is how much payload one answer holds, though one always fits.
const replyBytes = 4 << 20

// indexFacts are what is known of the index of a segment.
type indexFacts struct {
	kind string // as TYPE tells it
	ttl  int64  // as PTTL tells it
}

// chunkFacts are what is known of a chunk and its entry in the index, as of
// one moment.
type chunkFacts struct {
	kind        string // as TYPE tells it
	ttl         int64  // as PTTL tells it
	score       string // in the index; empty without an entry
	fields      int64  // how many the hash has
	tokenLength int64  // -1 without one
	token       string // empty if it is longer than any token
	length      int64  // of the payload, -1 without one
	payload     []byte // empty if it was not to be read
	names       []string
}

// facts asks for the index of a segment and for the chunks that some members of
// it stand for. The answer may end before the last of them, but has the first.
func (w *warmChecks) facts(ctx context.Context, seg warm.Segment, members []string) (indexFacts, []chunkFacts, error) {
	index := w.store.IndexKey(seg)
	keys, args := []string{index}, []any{replyBytes, warm.MaxPayloadBytes}
	if w.options.NoPayload {
		args[1] = 0
	}
	for _, member := range members {
		keys, args = append(keys, w.memberKey(seg, member)), append(args, member)
	}
	reply, err := luascripts.Must("warm_verify").Run(ctx, w.rdb, keys, args...).Slice()
	if err != nil {
		return indexFacts{}, nil, err
	}
	if len(reply) == 0 || len(reply) > len(keys) || len(members) > 0 && len(reply) == 1 {
		return indexFacts{}, nil, unreadable(reply)
	}
	var found indexFacts
	all := make([]chunkFacts, len(reply)-1)
	for i, row := range reply {
		texts, err := textsOf(row)
		switch {
		case err != nil:
		case i == 0 && len(texts) == 2:
			found.kind = texts[0]
			found.ttl, err = strconv.ParseInt(texts[1], 10, 64)
		case i > 0:
			all[i-1], err = chunkFactsOf(texts)
		}
		if err != nil {
			return indexFacts{}, nil, unreadable(row)
		}
	}
	return found, all, nil
}

// memberKey returns the key of the chunk that a member of an index names, also
// if it is no number of one.
func (w *warmChecks) memberKey(seg warm.Segment, member string) string {
	return strings.TrimSuffix(w.store.IndexKey(seg), "idx") + "c:" + member
}

func unreadable(answer any) error {
	return storeerr.New(storeerr.Failed, "script warm_verify answered %.100q", fmt.Sprint(answer))
}

func textsOf(row any) ([]string, error) {
	values, ok := row.([]any)
	if !ok {
		return nil, fmt.Errorf("%T is no list", row)
	}
	texts := make([]string, len(values))
	for i, v := range values {
		if texts[i], ok = v.(string); !ok {
			return nil, fmt.Errorf("%T is no text", v)
		}
	}
	return texts, nil
}

func chunkFactsOf(texts []string) (f chunkFacts, err error) {
	number := func(s string) int64 {
		n, parseErr := strconv.ParseInt(s, 10, 64)
		if parseErr != nil {
			err = parseErr
		}
		return n
	}
	if len(texts) != 3 && len(texts) < 8 {
		return f, fmt.Errorf("%d values", len(texts))
	}
	f = chunkFacts{kind: texts[0], ttl: number(texts[1]), score: texts[2]}
	if len(texts) >= 8 {
		f.fields = number(texts[3])
		f.tokenLength, f.token = number(texts[4]), texts[5]
		f.length, f.payload = number(texts[6]), []byte(texts[7])
		f.names = texts[8:]
	}
	return f, err
}
