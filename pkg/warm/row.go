package warm

// Decoding what a listing gets: rows of warm_list, and the index.

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// errMissing says that a chunk of the index was deleted meanwhile.
var errMissing = errors.New("missing")

// chunk decodes one row of a batch.
func (l *lister) chunk(number uint16, row any) (Chunk, error) {
	chunk := Chunk{Segment: l.segment, Number: number}
	switch row := row.(type) {
	case string:
		if row == missing {
			return chunk, errMissing
		}
		return chunk, l.store.damaged(l.segment, number, row)
	case []any:
		if len(row) != 2 {
			break
		}
		token, ok := row[0].(string)
		if !ok {
			break
		}
		chunk.Token = token
		switch content := row[1].(type) {
		case int64:
			chunk.Size = content
			return chunk, nil
		case string:
			chunk.Size, chunk.Payload = int64(len(content)), []byte(content)
			return chunk, nil
		}
	}
	return chunk, l.unreadable(row)
}

// unreadable is the error of an answer that warm_list does not give.
func (l *lister) unreadable(answer any) error {
	return storeerr.New(storeerr.Failed, "listing segment %q: script warm_list answered %.100q", l.segment, fmt.Sprint(answer))
}

// indexPage is how many members of an index one reply holds at most.
const indexPage = 4096

// numberSet is a set of chunk numbers, in 8 KiB.
type numberSet [MaxChunks / 64]uint64

func (s *numberSet) add(n uint16) { s[n/64] |= 1 << (n % 64) }

// sorted returns the numbers in ascending order.
func (s *numberSet) sorted() []uint16 {
	var numbers []uint16
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			numbers = append(numbers, uint16(i*64+bits.TrailingZeros64(word)))
		}
	}
	return numbers
}

// index returns the chunk numbers that a segment's index holds, ascending.
//
// Pages go by score and begin with the last score seen, so that members which
// come and go meanwhile move none out of sight; what is seen twice is counted
// once. Only where a whole page shares one score, which no chunk numbers do,
// does the next one begin at an offset.
func (s *Store) index(ctx context.Context, seg Segment, onForeign func(string)) ([]uint16, error) {
	key := s.IndexKey(seg)
	var numbers numberSet
	foreign := map[string]bool{}
	page := &redis.ZRangeBy{Min: "-inf", Max: "+inf", Count: indexPage}
	for {
		members, err := s.rdb.ZRangeByScoreWithScores(ctx, key, page).Result()
		if redis.HasErrorPrefix(err, "WRONGTYPE") {
			return nil, storeerr.New(storeerr.Integrity, "the index of segment %q is no sorted set", seg).AtKey(key)
		}
		if err != nil {
			return nil, storeerr.FromRedis(err, storeerr.Reads, fmt.Sprintf("listing segment %q", seg))
		}
		for _, m := range members {
			name, _ := m.Member.(string)
			if n, ok := parseNumber(name); ok {
				numbers.add(n)
			} else if onForeign != nil && !foreign[name] {
				foreign[name] = true
				onForeign(name)
			}
		}
		if len(members) < indexPage {
			return numbers.sorted(), nil
		}
		last := strconv.FormatFloat(members[indexPage-1].Score, 'g', -1, 64)
		if members[0].Score == members[indexPage-1].Score {
			if page.Min != last {
				page.Offset = 0
			}
			page.Offset += indexPage
		} else {
			page.Offset = 0
		}
		page.Min = last
	}
}

// parseNumber reads a chunk number in canonical decimal.
func parseNumber(member string) (uint16, bool) {
	n, err := strconv.ParseUint(member, 10, 16)
	return uint16(n), err == nil && strconv.FormatUint(n, 10) == member
}
