// The clock of the embedded server. miniredis lets time stand still unless it
// is told the time, and works off all keys each time that it changes. Here it
// is told before each command of a client, in whole milliseconds, so that TIME
// and every TTL agree exactly, and stands still inside scripts and
// transactions, as it should.

package embedded

import (
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// Moving the clock costs as much as there are keys: it rests ten times as
// long as the last move took, and never longer than maxRest.
const (
	restPerCost = 10
	maxRest     = 100 * time.Millisecond
)

// clock moves the time of a miniredis.
type clock struct {
	mini *miniredis.Miniredis

	mu    sync.Mutex
	moved time.Time     // when the clock was last moved
	rest  time.Duration // how long it then rests
}

// start sets the time for the first time and returns it; from then on keys
// expire.
func (c *clock) start(mini *miniredis.Miniredis) time.Time {
	now := time.Now().Truncate(time.Millisecond)
	c.mini = mini
	mini.SetTime(now)
	mini.ClockTTL(true)
	return now
}

// advance moves the server's time to now, and expires what is due. It waits
// for a running script, so no script may call it.
func (c *clock) advance() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.moved) < c.rest {
		return
	}
	began := time.Now()
	c.mini.SetTime(began.Truncate(time.Millisecond))
	c.mini.DB(0) // any access works off what is due, in all databases
	c.moved = time.Now()
	c.rest = min(restPerCost*c.moved.Sub(began), maxRest)
}
