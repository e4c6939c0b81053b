package doctor

// Judging how a server does: scripts, its clock and the way to it.

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
)

func judgeScripting(f *facts, _ Options) finding {
	if f.evalErr != nil {
		advice := "use a server that runs Lua scripts"
		if redis.HasErrorPrefix(f.evalErr, "NOPERM") {
			advice = "allow the user EVAL and EVALSHA"
		}
		return fail(refusal("EVAL", f.evalErr).Error(), "nearly every command of every store runs a script", advice)
	}
	found := strings.Join(append([]string{"EVAL"}, f.libraries...), ", ")
	if !slices.Contains(f.libraries, "cmsgpack") {
		return warn(found+", no cmsgpack", "this tool needs none; the drivers of other languages do", "use a server with the cmsgpack library of Lua")
	}
	return ok("%s", found)
}

func judgeScriptCache(f *facts, _ Options) finding {
	if f.scriptsErr != nil {
		return skip(refusal("SCRIPT EXISTS", f.scriptsErr))
	}
	loaded := 0
	for _, known := range f.scripts {
		if known {
			loaded++
		}
	}
	return ok("%d of %d scripts loaded", loaded, len(luascripts.All()))
}

// maxAhead is how far the clocks may be apart.
const maxAhead = time.Second

func judgeClock(f *facts, _ Options) finding {
	if f.timeErr != nil {
		return skip(refusal("TIME", f.timeErr))
	}
	found := fmt.Sprintf("%.1f s from this machine's", f.ahead.Abs().Seconds())
	if f.ahead.Abs() > maxAhead+f.blur {
		return warn(found, "the stores go by the server's clock alone; expiries seem off to who compares them with this one",
			"let both machines keep time (NTP)")
	}
	return ok("%s", found)
}

// slow is a median from which on a round trip is worth a remark.
const slow = 100 * time.Millisecond

func judgeLatency(f *facts, _ Options) finding {
	ms := func(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d)/float64(time.Millisecond)) }
	median := f.trips[len(f.trips)/2]
	found := fmt.Sprintf("min %s, median %s, max %s ms", ms(f.trips[0]), ms(median), ms(f.trips[len(f.trips)-1]))
	if median > slow {
		return warn(found, "each command takes one round trip or a few: bulk commands will be slow", "run the tool nearer to the server")
	}
	return ok("%s", found)
}
