package warm

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
)

// Creation is what CreateEach did with one chunk.
type Creation struct {
	Result Result
	Err    error // as Create has it, or nil
}

// CreateEach does what Create does for many chunks, in one round trip and each
// by itself: one that cannot be created leaves the others alone. A chunk's
// Token is the one it gets, which must never have been another's; an empty one
// stands for a new one.
func (s *Store) CreateEach(ctx context.Context, chunks []Chunk) []Creation {
	created := make([]Creation, len(chunks))
	var writes []write
	var calls []luascripts.Call
	var places []int
	for i, c := range chunks {
		if err := cmp.Or(c.Segment.Check(), checkPayload(c.Payload)); err != nil {
			created[i].Err = err
			continue
		}
		w := s.creation(c.Segment, c.Number, cmp.Or(c.Token, uuid.NewString()), c.Payload)
		writes, places = append(writes, w), append(places, i)
		calls = append(calls, luascripts.Call{Script: luascripts.Must(w.script), Keys: w.keys, Args: w.args})
	}
	if len(calls) == 0 {
		return created
	}
	for i, cmd := range luascripts.Pipeline(ctx, s.rdb, calls) {
		reply, err := cmd.StringSlice()
		c := &created[places[i]]
		c.Result, c.Err = s.answer(ctx, writes[i], reply, err)
	}
	return created
}
