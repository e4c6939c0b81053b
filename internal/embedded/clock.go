// The clock of the embedded server. miniredis lets time stand still unless it
// is told the time, and works off all keys each time that it changes. Here it
// is told before each command of a client, in whole milliseconds, so that TIME
// and every TTL agree exactly, and stands still inside scripts and
// transactions, as it should.

package embedded

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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
	told atomic.Int64 // what miniredis was told last, ms since the epoch

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
	c.told.Store(now.UnixMilli())
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
	c.told.Store(began.UnixMilli())
	c.mini.DB(0) // any access works off what is due, in all databases
	c.moved = time.Now()
	c.rest = min(restPerCost*c.moved.Sub(began), maxRest)
}

// fromNow returns the arguments of a SET or GETEX with its moment of expiry as
// a time from now, or nil where it has none: miniredis reads its clock for such
// a moment while another connection may move it. A moment that has passed is
// the next one.
func (c *clock) fromNow(cmd string, args []string) []string {
	if cmd != "SET" && cmd != "GETEX" {
		return nil
	}
	i, unit := expiryArg(cmd, args)
	if i == 0 || !strings.HasSuffix(unit, "AT") {
		return nil
	}
	at, err := strconv.ParseInt(args[i], 10, 64)
	perUnit := int64(1)
	if unit == "EXAT" {
		perUnit = 1000
	}
	if err != nil || at <= 0 || at > 1<<53 {
		return nil
	}
	changed := slices.Clone(args)
	changed[i-1], changed[i] = "PX", strconv.FormatInt(max(1, at*perUnit-c.told.Load()), 10)
	return changed
}
