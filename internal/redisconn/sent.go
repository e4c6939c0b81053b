// Telling a command that was never sent from one whose answer was lost.

package redisconn

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// sentHook marks the failures of commands of which nothing was sent. It goes
// by a counter of the whole client, so while other commands are under way it
// may take one that was not sent for one that was, and never the reverse.
type sentHook struct {
	addr string
	sent *atomic.Int64
}

func (h *sentHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *sentHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		before := h.sent.Load()
		return h.mark(next(ctx, cmd), before)
	}
}

func (h *sentHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		before := h.sent.Load()
		err := h.mark(next(ctx, cmds), before)
		for _, cmd := range cmds {
			cmd.SetErr(h.mark(cmd.Err(), before))
		}
		return err
	}
}

// mark wraps err unless it is a server's answer or something was sent since.
func (h *sentHook) mark(err error, before int64) error {
	if err == nil || h.sent.Load() != before {
		return err
	}
	if _, ok := errors.AsType[redis.Error](err); ok {
		return err
	}
	return notSent(h.addr, err)
}
