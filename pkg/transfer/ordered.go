package transfer

import (
	"context"
	"iter"
)

// ahead does work for each item, several at a time, and yields the results in
// the order of the items. At most width are under way or wait, and together
// they weigh at most budget, but always one. It returns when none is under way.
func ahead[T, R any](ctx context.Context, items iter.Seq[T], width int, budget int64, weight func(T) int64, work func(context.Context, T) R) iter.Seq[R] {
	return func(yield func(R) bool) {
		type job struct {
			result chan R
			weight int64
		}
		ctx, cancel := context.WithCancel(ctx)
		var jobs []job
		var load int64
		defer func() {
			cancel()
			for _, j := range jobs {
				<-j.result
			}
		}()
		deliver := func() bool {
			j := jobs[0]
			result := <-j.result
			jobs = jobs[1:]
			load -= j.weight
			return yield(result)
		}
		for item := range items {
			j := job{make(chan R, 1), weight(item)}
			for len(jobs) > 0 && (len(jobs) >= width || load+j.weight > budget) {
				if !deliver() {
					return
				}
			}
			jobs = append(jobs, j)
			load += j.weight
			go func() { j.result <- work(ctx, item) }()
		}
		for len(jobs) > 0 {
			if !deliver() {
				return
			}
		}
	}
}
