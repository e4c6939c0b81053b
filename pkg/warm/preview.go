package warm

// Previews: what a write would do at this moment, without doing it.

import (
	"cmp"
	"context"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// ParseChunk reads the number of a chunk: canonical decimal, 0 to 65,535,
// without sign, space or leading zero. Anything else is storeerr.Invalid.
func ParseChunk(text string) (uint16, error) {
	n, ok := parseNumber(text)
	if !ok {
		return 0, storeerr.New(storeerr.Invalid, "the chunk %q is no number from 0 to %d", text, MaxChunks-1)
	}
	return n, nil
}

// PreviewCreate says what Create would do now, with its errors, and changes
// nothing. No token is made: that of the result is empty.
func (s *Store) PreviewCreate(ctx context.Context, seg Segment, chunk uint16, payload []byte) (Result, error) {
	return s.preview(ctx, Created, seg, chunk, "", checkPayload(payload))
}

// PreviewUpdate says what Update would do now, with its errors, and changes
// nothing. No token is made: that of the result is empty.
func (s *Store) PreviewUpdate(ctx context.Context, seg Segment, chunk uint16, payload []byte, expect string) (Result, error) {
	return s.preview(ctx, Updated, seg, chunk, expect, cmp.Or(checkPayload(payload), checkToken(expect)))
}

// PreviewDelete says what Delete would do now, with its errors, and changes
// nothing.
func (s *Store) PreviewDelete(ctx context.Context, seg Segment, chunk uint16, expect string) (Result, error) {
	return s.preview(ctx, Deleted, seg, chunk, expect, checkToken(expect))
}

func (s *Store) preview(ctx context.Context, outcome Outcome, seg Segment, chunk uint16, expect string, invalid error) (Result, error) {
	if err := cmp.Or(seg.Check(), invalid); err != nil {
		return Result{}, err
	}
	w := write{outcome: outcome, segment: seg, chunk: chunk, keys: []string{s.ChunkKey(seg, chunk), s.IndexKey(seg)}}
	var clock *redis.TimeCmd
	var chunkType, indexType *redis.StatusCmd
	var fields *redis.SliceCmd
	_, err := s.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		clock = p.Time(ctx)
		chunkType, indexType = p.Type(ctx, w.keys[0]), p.Type(ctx, w.keys[1])
		fields = p.HMGet(ctx, w.keys[0], "t")
		return nil
	})
	if err != nil && !redis.HasErrorPrefix(fields.Err(), "WRONGTYPE") {
		return Result{}, storeerr.FromRedis(err, storeerr.Reads, w.doing())
	}
	now := strconv.FormatInt(clock.Val().UnixMilli(), 10)
	return w.result(w.foresee(chunkType.Val(), indexType.Val(), fields.Val(), expect, now))
}

// foresee gives the answer that the script of the write would give.
func (w write) foresee(chunkType, indexType string, fields []any, expect, now string) []string {
	const none = "none"
	switch {
	case chunkType != none && chunkType != "hash":
		return []string{"integrity", now, "1", "the chunk is no hash"}
	case w.outcome != Updated && indexType != none && indexType != "zset":
		return []string{"integrity", now, "2", "the index is no sorted set"}
	case w.outcome == Created && chunkType == none:
		return []string{string(Created), now}
	case chunkType == none:
		return []string{"missing", now}
	}
	token, ok := fields[0].(string)
	switch {
	case w.outcome == Created:
		return []string{"conflict", now, token}
	case !ok:
		return []string{"integrity", now, "1", "the chunk has no token"}
	case token != expect:
		return []string{"conflict", now, token}
	}
	return []string{string(w.outcome), now}
}
