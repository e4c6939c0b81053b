package warm

// Listing a segment: the index first, then the chunks in bounded batches that
// are asked for ahead of the reader.

import (
	"context"
	"errors"
	"iter"
	"strconv"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

const (
	batchRows  = 1000    // chunks in one reply at most
	batchBytes = 4 << 20 // payload bytes in one reply, but always one chunk
	readAhead  = 2       // batches under way while the reader has one
)

// ListOptions says what List moves.
type ListOptions struct {
	Payload bool // read the payloads too
	// OnForeign, if set, is called with each member of the index that is no
	// chunk number; such members are left out of the list.
	OnForeign func(member string)
}

// List yields the chunks of a segment, ascending and each once; an empty
// segment yields none. A chunk that is there all the while is listed, one that
// comes or goes meanwhile may be, and each is read at one moment.
//
// A damaged chunk is yielded as storeerr.Integrity with its Segment and
// Number, and the listing goes on. Any other error is the last thing yielded.
func (s *Store) List(ctx context.Context, seg Segment, opts ListOptions) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		if err := seg.Check(); err != nil {
			yield(Chunk{}, err)
			return
		}
		numbers, err := s.index(ctx, seg, opts.OnForeign)
		if err != nil {
			yield(Chunk{}, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		l := lister{store: s, segment: seg, tag: s.tag(seg), payload: opts.Payload, rest: numbers}
		defer l.drain()
		defer cancel()
		l.run(ctx, yield)
	}
}

// lister reads the chunks of one segment.
type lister struct {
	store   *Store
	segment Segment
	tag     string
	payload bool
	rest    []uint16       // numbers not asked for yet
	ahead   []<-chan batch // asked for, in order
}

// batch is the answer to one request.
type batch struct {
	numbers []uint16 // asked for
	reply   []any    // of warm_list, for the first of them
	err     error
}

func (l *lister) run(ctx context.Context, yield func(Chunk, error) bool) {
	for {
		for len(l.ahead) <= readAhead && len(l.rest) > 0 {
			n := min(batchRows, len(l.rest))
			l.ahead = append(l.ahead, l.ask(ctx, l.rest[:n]))
			l.rest = l.rest[n:]
		}
		if len(l.ahead) == 0 {
			return
		}
		b := <-l.ahead[0]
		l.ahead = l.ahead[1:]
		for {
			read, goOn := l.deliver(b, yield)
			if !goOn {
				return
			}
			if read == len(b.numbers) {
				break
			}
			// The reply was full of bytes before all chunks were read.
			b = <-l.ask(ctx, b.numbers[read:])
		}
	}
}

// ask requests a batch.
func (l *lister) ask(ctx context.Context, numbers []uint16) <-chan batch {
	answer := make(chan batch, 1)
	go func() {
		keys := make([]string, len(numbers))
		for i, n := range numbers {
			keys[i] = l.tag + "c:" + strconv.Itoa(int(n))
		}
		limit := 0
		if l.payload {
			limit = batchBytes
		}
		reply, err := luascripts.Must("warm_list").Run(ctx, l.store.rdb, keys, limit).Slice()
		answer <- batch{numbers: numbers, reply: reply, err: err}
	}()
	return answer
}

// drain waits for the requests under way, so that none outlives the listing.
func (l *lister) drain() {
	for _, answer := range l.ahead {
		<-answer
	}
}

// deliver yields a batch. It returns how many of its chunks were read, and
// whether to go on.
func (l *lister) deliver(b batch, yield func(Chunk, error) bool) (int, bool) {
	if b.err != nil {
		yield(Chunk{}, storeerr.FromRedis(b.err, storeerr.Reads, "listing segment "+strconv.Quote(l.segment.String())))
		return 0, false
	}
	read := len(b.reply)
	if read == 0 || read > len(b.numbers) {
		yield(Chunk{}, l.unreadable(b.reply))
		return 0, false
	}
	for i := range read {
		chunk, err := l.chunk(b.numbers[i], b.reply[i])
		if errors.Is(err, errMissing) {
			continue
		}
		if !yield(chunk, err) {
			return 0, false
		}
	}
	return read, true
}
