// Trying again what only reads.

package redisconn

import (
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// strangerPatience is how long a server that never answered is tried: long
// enough for one that is being started anew, and not so long that a wrong port
// would be tiresome.
const strangerPatience = time.Second

// retrier runs commands that only read again, after a failure that may pass.
type retrier struct {
	*link
	failed func(context.Context) // called after each such failure, or nil
}

// retried marks the context of commands whose retries are up to a hook that
// has been passed already.
type retried struct{}

func (r *retrier) DialHook(next redis.DialHook) redis.DialHook { return next }

func (r *retrier) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return r.run(ctx, []redis.Cmder{cmd}, func(ctx context.Context) error { return next(ctx, cmd) })
	}
}

func (r *retrier) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return r.run(ctx, cmds, func(ctx context.Context) error { return next(ctx, cmds) })
	}
}

// run tries until all commands have an answer that counts, or it is too late.
func (r *retrier) run(ctx context.Context, cmds []redis.Cmder, try func(context.Context) error) error {
	if ctx.Value(retried{}) != nil {
		return try(ctx)
	}
	ctx = context.WithValue(ctx, retried{}, true)
	start := time.Now()
	pause := backoff.ExponentialBackOff{
		InitialInterval: 50 * time.Millisecond, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: time.Second,
	}
	var told redis.Error // why the server last said that it can't answer yet
	for {
		// What a try sets, the next one need not: MULTI keeps its error.
		for _, cmd := range cmds {
			cmd.SetErr(nil)
		}
		err := try(ctx)
		if !mayPass(err, cmds) {
			return err
		}
		if reply, ok := errors.AsType[redis.Error](err); ok {
			told = reply
		}
		if r.failed != nil {
			r.failed(ctx)
		}
		if !onlyRead(cmds) {
			return err
		}
		if !r.wait(ctx, pause.NextBackOff(), r.limit(ctx, start)) {
			return sooner(told, err, cmds)
		}
	}
}

// wait waits before the next try, and reports whether there is time for one.
func (r *retrier) wait(ctx context.Context, pause time.Duration, limit time.Time) bool {
	if time.Now().Add(pause).After(limit) {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-r.until.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

// sooner returns what the server told before the last try, if that ran out of
// time while it waited for the same answer, and else the error of the last try.
func sooner(told redis.Error, err error, cmds []redis.Cmder) error {
	if told == nil || !isTimeout(err) {
		return err
	}
	for _, cmd := range cmds {
		cmd.SetErr(told)
	}
	return told
}

// mayPass reports whether a command failed in a way that may be over in a while.
func mayPass(err error, cmds []redis.Cmder) bool {
	if err != nil && passes(err) {
		return true
	}
	return slices.ContainsFunc(cmds, func(cmd redis.Cmder) bool { return cmd.Err() != nil && passes(cmd.Err()) })
}

// limit is when the last try has to begin.
func (r *retrier) limit(ctx context.Context, start time.Time) time.Time {
	by, ok := ctx.Deadline()
	if !ok {
		by = start.Add(r.timeout)
	}
	if stranger := start.Add(strangerPatience); !r.answered.Load() && stranger.Before(by) {
		return stranger
	}
	return by
}

// passes reports whether a failure may be over in a while.
func passes(err error) bool {
	if reply, ok := errors.AsType[redis.Error](err); ok {
		for _, prefix := range []string{"LOADING", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN"} {
			if redis.HasErrorPrefix(reply, prefix) {
				return true
			}
		}
		return false
	}
	if failed, ok := errors.AsType[*storeerr.Error](err); ok && failed.Kind != storeerr.Unavailable {
		return false
	}
	_, badCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, notTLS := errors.AsType[tls.RecordHeaderError](err)
	return !badCertificate && !notTLS && !errors.Is(err, context.Canceled) && !errors.Is(err, redis.ErrClosed)
}
