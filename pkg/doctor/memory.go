package doctor

// Judging whether a server keeps what it is given: on disk, and in memory.

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
)

// The settings asked for by CONFIG GET.
const (
	bulkLimit     = "proto-max-bulk-len"
	busyThreshold = "busy-reply-threshold"
	luaTimeLimit  = "lua-time-limit" // its name before Redis 7.0
)

var (
	errKeepsItself = errors.New("the embedded server keeps its data file by itself")
	errReadOnly    = errors.New("nothing is to be written")
)

func judgePersistence(f *facts, _ Options) finding {
	if name, _, err := f.kind(); err == nil && name == embedded {
		return skip(errKeepsItself)
	}
	aof, err := f.info.get("aof_enabled")
	switch {
	case err != nil:
		return skip(err)
	case aof == "1":
		return ok("AOF on")
	}
	return fail("AOF off", "a restart takes chunks back to the last snapshot file, or loses all of them",
		"set appendonly yes, in the server's file too")
}

func judgeSaving(f *facts, _ Options) finding {
	if name, _, err := f.kind(); err == nil && name == embedded {
		return skip(errKeepsItself)
	}
	var bad []string
	known := false
	for _, name := range []string{"rdb_last_bgsave_status", "aof_last_write_status", "aof_last_bgrewrite_status"} {
		status, err := f.info.get(name)
		known = known || err == nil
		if err == nil && status != "ok" {
			bad = append(bad, name+":"+status)
		}
	}
	if !known {
		_, err := f.info.get("rdb_last_bgsave_status")
		return skip(err)
	}
	if len(bad) > 0 {
		return fail(strings.Join(bad, " "), "what was written last is not on disk, and the server may refuse to write (MISCONF)",
			"see the server's log and its disk")
	}
	return ok("no errors")
}

// nearlyFull is the share of maxmemory, in percent, from which on to warn.
const nearlyFull = 90

func judgeMemory(f *facts, _ Options) finding {
	if _, err := f.info.get("maxmemory"); err != nil {
		return skip(err)
	}
	limit, used := number(f.info, "maxmemory"), number(f.info, "used_memory")
	if limit == 0 {
		return ok("no maxmemory")
	}
	found := fmt.Sprintf("%s of %s used", humanize.IBytes(uint64(used)), humanize.IBytes(uint64(limit)))
	switch {
	case used >= limit:
		return fail(found, "writes are refused, or rows evicted", "free memory, or raise maxmemory")
	case used >= limit/100*nearlyFull:
		return warn(found, "writes will be refused soon, or rows evicted", "free memory, or raise maxmemory")
	}
	return ok("%s", found)
}

func judgeEviction(f *facts, _ Options) finding {
	policy, err := f.info.get("maxmemory_policy")
	switch {
	case err != nil:
		return skip(err)
	case policy == "noeviction":
		return ok("noeviction")
	}
	means := "rows, blobs and chunks vanish one key at a time: stores end up damaged, and lists wrong without a word"
	if strings.HasPrefix(policy, "volatile-") {
		means = "blobs vanish before their retention ends, and the records of open snapshots, which ends scans"
	}
	const advice = "set maxmemory-policy noeviction, in the server's file too"
	if number(f.info, "maxmemory") == 0 {
		return warn(policy+", without a maxmemory", "once there is a maxmemory, "+means, advice)
	}
	return fail(policy, means, advice)
}

func judgeBulkLength(f *facts, _ Options) finding {
	value, err := f.config.get(bulkLimit)
	if err != nil {
		return skip(err)
	}
	limit, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err != nil:
		return skip(fmt.Errorf("%s is %q", bulkLimit, value))
	case limit < blob.MaxPayloadBytes:
		return fail(value+" bytes", fmt.Sprintf("larger blobs cannot be put: they have up to %d bytes", blob.MaxPayloadBytes),
			"set proto-max-bulk-len 512mb, in the server's file too")
	}
	return ok("%s bytes", value)
}

// shortScript is a threshold, in ms, that a script over a large batch may come
// near on a busy machine.
const shortScript = 500

func judgeBusyThreshold(f *facts, _ Options) finding {
	value, err := f.config.get(busyThreshold)
	if err != nil {
		if value, err = f.config.get(luaTimeLimit); err != nil {
			return skip(err)
		}
	}
	switch ms, err := strconv.Atoi(value); {
	case err != nil:
		return skip(fmt.Errorf("%s is %q", busyThreshold, value))
	case ms <= 0:
		return ok("off: clients wait for a script, however long it takes")
	case ms < shortScript:
		return warn(value+" ms", "while a large batch is applied, other clients get BUSY errors", "set busy-reply-threshold 5000 (lua-time-limit before Redis 7)")
	}
	return ok("%s ms", value)
}
