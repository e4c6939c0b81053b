package opaque

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// loseAnswers loses the answers to script calls: of a request before it is
// sent, or of one that was carried out.
type loseAnswers struct {
	redis.Hook
	unsent, sent int // how many of each, in this order
}

func (l *loseAnswers) DialHook(next redis.DialHook) redis.DialHook { return next }

func (l *loseAnswers) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (l *loseAnswers) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() != "evalsha" && cmd.Name() != "eval" {
			return next(ctx, cmd)
		}
		if l.unsent > 0 {
			l.unsent--
			cmd.SetErr(io.ErrUnexpectedEOF)
			return cmd.Err()
		}
		err := next(ctx, cmd)
		if l.sent > 0 && !redis.HasErrorPrefix(err, "NOSCRIPT") {
			l.sent--
			cmd.SetErr(io.ErrUnexpectedEOF)
			return cmd.Err()
		}
		return err
	}
}

func TestLostAnswers(t *testing.T) {
	t.Parallel()
	put, del := Put("k", "new", Never()), Delete("k")
	fenced := map[string]Batch{
		"missing, put":    {Conditions: []Condition{Missing("other")}, Mutations: []Mutation{Put("other", "new", Never())}},
		"version, put":    {Conditions: []Condition{VersionIs("k", "1")}, Mutations: []Mutation{put}},
		"version, delete": {Conditions: []Condition{VersionIs("k", "1")}, Mutations: []Mutation{del}},
		"value, put":      {Conditions: []Condition{ValueIs("k", "old")}, Mutations: []Mutation{put}},
	}
	open := map[string]Batch{
		"unconditional":       {Mutations: []Mutation{put}},
		"delete":              {Mutations: []Mutation{del}},
		"same value":          {Conditions: []Condition{ValueIs("k", "old")}, Mutations: []Mutation{Put("k", "old", Never())}},
		"condition elsewhere": {Conditions: []Condition{Missing("other")}, Mutations: []Mutation{put}},
		"may expire":          {Conditions: []Condition{Missing("other")}, Mutations: []Mutation{Put("other", "", At(1))}},
	}
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		try := func(b Batch, l *loseAnswers) (fixture, error) {
			rdb := s.Client(t)
			f := fixture{mustStore(t, rdb, s.Prefix(t)), rdb}
			f.put(t, "k", "old")
			rdb.AddHook(l)
			_, err := f.Write(context.Background(), b)
			return f, err
		}
		for name, b := range fenced {
			f, err := try(b, &loseAnswers{unsent: 1})
			if err != nil || f.do(t, "GET", f.keys.Sequence()) != "2" {
				t.Errorf("%s, lost before it was carried out: %v, counter %v", name, err, f.do(t, "GET", f.keys.Sequence()))
			}
			// Its own success makes the second try a conflict, which it is not.
			f, err = try(b, &loseAnswers{sent: 1})
			if !errors.Is(err, storeerr.UnknownOutcome) || f.do(t, "GET", f.keys.Sequence()) != "2" {
				t.Errorf("%s, lost behind it: %v, counter %v", name, err, f.do(t, "GET", f.keys.Sequence()))
			}
		}
		for name, b := range open {
			f, err := try(b, &loseAnswers{unsent: 1})
			if !errors.Is(err, storeerr.UnknownOutcome) || f.do(t, "GET", f.keys.Sequence()) != "1" {
				t.Errorf("%s: %v, counter %v", name, err, f.do(t, "GET", f.keys.Sequence()))
			}
		}
	})
}
