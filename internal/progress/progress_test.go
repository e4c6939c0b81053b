package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestPatience holds that short work shows nothing.
func TestPatience(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := New(&out, "rows")
	c.Expect(10)
	c.Add(5)
	c.Set(7)
	c.Clear()
	c.Stop()
	c.Stop()
	if out.Len() > 0 {
		t.Errorf("it wrote %q", &out)
	}
	c = nil
	c.Expect(1)
	c.Add(1)
	c.Set(1)
	c.Clear()
	c.Stop()
}

// TestShows holds what long work shows, and that the line is clear behind it.
func TestShows(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]string{"rows": "rows (5/-, ", "bytes": "bytes ( 5 B, "} {
		var out bytes.Buffer
		c := New(&out, what)
		c.started = time.Now().Add(-patience)
		c.Set(5)
		shown := out.String()
		if !strings.Contains(shown, want) {
			t.Errorf("%s: it shows %q, want %q", what, shown, want)
		}
		c.Stop()
		c.Set(6)
		if cleared := strings.TrimPrefix(out.String(), shown); strings.Trim(cleared, " \r") != "" || !strings.HasSuffix(cleared, "\r") {
			t.Errorf("%s: behind the end it shows %q", what, cleared)
		}
	}
}
