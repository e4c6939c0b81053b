// Package progress counts long work on a terminal.
package progress

import (
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// patience is how long work may take before it is shown.
const patience = time.Second

// Counter shows how much has been done and how fast, from a second after it
// was made until Stop. A nil Counter shows nothing. It is safe for concurrent
// use.
type Counter struct {
	mu      sync.Mutex
	bar     *progressbar.ProgressBar
	started time.Time
	done    int64
	total   int64 // 0 = not known
	shown   int64 // the total that the bar knows
	stopped bool
}

// New returns a counter of what, on the terminal w. Bytes are shown in units.
func New(w io.Writer, what string) *Counter {
	bytes := what == "bytes"
	bar := progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionShowBytes(bytes),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSpinnerType(14),
		progressbar.OptionSetSpinnerChangeInterval(0), // or it draws by itself, before and after its time
		progressbar.OptionSetRenderBlankState(false),
		progressbar.OptionClearOnFinish(),
	)
	if !bytes {
		progressbar.OptionShowIts()(bar)
	}
	bar.StartWithoutRender() // the rate is from now on
	return &Counter{bar: bar, started: time.Now()}
}

// Add counts n more.
func (c *Counter) Add(n int64) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(c.done + n)
}

// Set counts to n.
func (c *Counter) Set(n int64) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(n)
}

// Expect adds n to what there will be in the end. With that the counter shows
// how long it still takes.
func (c *Counter) Expect(n int64) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total += n
}

func (c *Counter) set(n int64) {
	c.done = n
	if !c.stopped && time.Since(c.started) >= patience {
		if total := max(c.total, n); c.total > 0 && c.shown != total {
			c.bar.ChangeMax64(total)
			c.shown = total
		}
		// A terminal that cannot be written to is no reason to stop the work.
		_ = c.bar.Set64(n)
	}
}

// Clear clears the line until the next count: something else is to be written.
func (c *Counter) Clear() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
}

// Stop clears the line. It may be called more than once.
func (c *Counter) Stop() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	c.stopped = true
}

func (c *Counter) clear() {
	if !c.stopped && time.Since(c.started) >= patience {
		_ = c.bar.Clear()
	}
}
