package doctor

// Which Redis commands the tool's own commands run: the one place that says so.

import (
	"slices"
	"strings"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
)

// Group is a group of the tool's commands that need the same rights.
type Group struct {
	Name    string   // as in "blob-reads"
	Store   Store    // the store it works on, or All
	Verbs   string   // the tool's commands, as in "blob put, renew, delete"
	Writes  bool     // whether it changes data
	Scripts []string // the names of the scripts it runs
	Plain   []string // the commands that it sends besides, in capitals, a subcommand behind a space
}

// Groups returns all groups.
func Groups() []Group {
	return []Group{
		{
			Name: "opaque-reads", Store: Opaque, Verbs: "read, history, scan --live",
			Scripts: []string{"opaque_history", "opaque_scan_rows"},
			Plain:   []string{"ZRANGEBYLEX"},
		},
		{
			Name: "opaque-stats", Store: Opaque, Verbs: "stats, snapshot list --held",
			Scripts: []string{"opaque_bookkeeping", "opaque_sizes", "opaque_snapshots", "opaque_survey"},
			Plain:   []string{"HGETALL", "PTTL", "ZRANGEBYLEX"},
		},
		{
			Name: "opaque-scans", Store: Opaque, Verbs: "scan", Writes: true,
			Scripts: []string{"opaque_scan_rows", "opaque_snapshot_close", "opaque_snapshot_open", "opaque_snapshot_renew"},
			Plain:   []string{"HGETALL", "ZRANGEBYLEX"},
		},
		{
			Name: "opaque-writes", Store: Opaque, Verbs: "put, delete, txn", Writes: true,
			Scripts: []string{"opaque_collect", "opaque_due", "opaque_scan_rows", "opaque_write"},
			Plain:   []string{"ZRANGEBYLEX"},
		},
		{
			Name: "snapshots", Store: Opaque, Verbs: "snapshot list, gc, drop", Writes: true,
			Scripts: []string{"opaque_collect", "opaque_due", "opaque_snapshot_close", "opaque_snapshots", "opaque_survey"},
			Plain:   []string{"HGETALL", "PTTL", "ZCOUNT"},
		},
		{
			Name: "opaque-verify", Store: Opaque, Verbs: "verify",
			Scripts: []string{"opaque_verify_key", "opaque_verify_rows", "opaque_verify_snapshot"},
			Plain:   opaqueVerify(),
		},
		{
			Name: "opaque-repair", Store: Opaque, Verbs: "verify --repair", Writes: true,
			Scripts: []string{
				"opaque_repair_counter", "opaque_repair_key", "opaque_repair_quarantine", "opaque_repair_snapshot",
				"opaque_repair_type", "opaque_verify_key", "opaque_verify_rows", "opaque_verify_snapshot", "repair_ttl",
			},
			Plain: opaqueVerify(),
		},
		{
			Name: "blob-reads", Store: Blob, Verbs: "blob read, stat, list",
			Scripts: []string{"blob_read", "blob_stat"},
			Plain:   []string{"EXEC", "GET", "GETRANGE", "MULTI", "PTTL", "SCAN", "TIME"},
		},
		{
			Name: "blob-writes", Store: Blob, Verbs: "blob put, renew, delete", Writes: true,
			Scripts: []string{"blob_delete", "blob_put", "blob_renew", "blob_stat"},
			Plain:   []string{"EXEC", "GET", "MULTI", "PTTL", "SET", "STRLEN", "TIME"},
		},
		{
			Name: "blob-verify", Store: Blob, Verbs: "verify",
			Scripts: []string{"blob_stat"},
			Plain:   []string{"EXEC", "GET", "GETRANGE", "MULTI", "PTTL", "SCAN", "TIME", "TYPE"},
		},
		{
			Name: "warm-reads", Store: Warm, Verbs: "warm read, list, segments",
			Scripts: []string{"warm_list"},
			Plain:   []string{"SCAN", "ZCARD", "ZRANGEBYSCORE"},
		},
		{
			Name: "warm-writes", Store: Warm, Verbs: "warm cas, delete", Writes: true,
			Scripts: []string{"warm_create", "warm_delete", "warm_update"},
			Plain:   []string{"EXEC", "HGET", "HMGET", "MULTI", "TIME", "TYPE"},
		},
		{
			Name: "warm-verify", Store: Warm, Verbs: "verify",
			Scripts: []string{"warm_verify"},
			Plain:   []string{"SCAN", "TYPE", "ZSCAN"},
		},
		{
			Name: "warm-repair", Store: Warm, Verbs: "verify --repair", Writes: true,
			Scripts: []string{"repair_ttl", "warm_repair_chunk", "warm_repair_entry", "warm_repair_index", "warm_verify"},
			Plain:   []string{"SCAN", "TYPE", "ZSCAN"},
		},
		{
			Name: "inspect", Store: All, Verbs: "inspect",
			Scripts: []string{"blob_stat", "inspect_key", "opaque_verify_key", "opaque_verify_snapshot", "warm_list"},
			Plain: []string{
				"EXEC", "GET", "GETRANGE", "HGETALL", "HMGET", "HSCAN", "LRANGE", "MEMORY USAGE", "MULTI", "OBJECT ENCODING", "PTTL",
				"SSCAN", "TIME", "XRANGE", "ZRANGE", "ZREVRANGEBYSCORE",
			},
		},
		{
			Name: "migrate", Store: All, Verbs: "migrate", Writes: true,
			Scripts: []string{
				"blob_put", "legacy_read", "legacy_retire", "legacy_unindex", "opaque_bookkeeping", "opaque_retag", "opaque_retire", "opaque_scan_rows",
				"opaque_survey", "opaque_write", "retire_rest",
			},
			Plain: []string{"EXEC", "EXISTS", "GET", "HSCAN", "MULTI", "PTTL", "SCAN", "SET", "STRLEN", "TIME", "ZRANGE", "ZREVRANGE"},
		},
		{
			Name: "prefixes", Store: All, Verbs: "prefixes",
			Scripts: []string{"opaque_bookkeeping", "opaque_snapshots"},
			Plain:   []string{"HGETALL", "HMGET", "MEMORY USAGE", "PTTL", "SCAN", "TYPE", "ZREVRANGE"},
		},
		{
			Name: "scripts", Store: All, Verbs: "scripts load", Writes: true,
			Plain: []string{"SCRIPT LOAD"},
		},
	}
}

// opaqueVerify are the commands that the checks of the versioned store send.
func opaqueVerify() []string {
	return []string{
		"EXISTS", "GET", "HMGET", "HSCAN", "PTTL", "SCAN", "TIME", "TYPE", "ZCARD", "ZMSCORE", "ZREVRANGE", "ZREVRANGEBYSCORE", "ZSCAN",
	}
}

// Commands returns all commands that the group needs, those inside its scripts
// too, sorted, in the form of Plain.
func (g Group) Commands() []string {
	all := slices.Clone(g.Plain)
	for _, name := range g.Scripts {
		// A script goes by its SHA-1, or whole where the server does not know it.
		all = append(append(all, "EVAL", "EVALSHA"), luascripts.Must(name).Commands...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Rules returns what ACL SETUSER takes to allow commands, in the form of
// Group.Plain: "+get +script|load".
func Rules(commands []string) string {
	rules := make([]string, len(commands))
	for i, command := range commands {
		rules[i] = "+" + strings.ReplaceAll(strings.ToLower(command), " ", "|")
	}
	return strings.Join(rules, " ")
}

// escapeGlob escapes what a pattern reads as its own.
var escapeGlob = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `\`, `\\`)

// KeyRule returns what ACL SETUSER takes to allow a store's keys of a prefix.
// For All it is that of every store.
func KeyRule(store Store, prefix string) string {
	escaped := escapeGlob.Replace(prefix)
	switch store {
	case Opaque, Blob:
		return "~" + escaped + ":*"
	case Warm:
		return "~{" + escaped + "|*"
	}
	return KeyRule(Opaque, prefix) + " " + KeyRule(Warm, prefix)
}
