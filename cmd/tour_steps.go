// What the tour shows.

package cmd

import "strings"

// tour is the main commands in an order to read them in.
func tour() []tourPart {
	return []tourPart{
		{"The versioned store: every write gives its key a new version.", []tourStep{
			on("put greeting hello"),
			on("read greeting -o json"),
		}},
		{"A condition makes a write safe beside others: none is overwritten unseen.", []tourStep{
			{args: words("put greeting hola --if-version 4"), status: exitConflict},
		}},
		{`Keys are bytes, often with NUL between their parts: \0 in escaped form.`, []tourStep{
			on(`scan --key-format escaped mesh-node\0eu\0`),
			on(`history --key-format escaped mesh-node\0eu\0c4580e6fa7132b9d`),
		}},
		{"A batch is applied whole or not at all.", []tourStep{
			{args: words("txn"), input: `{"mutations":[{"kind":"put","key":"farewell","value":"bye"},
  {"kind":"delete","key":"greeting"}]}`},
		}},
		{"A snapshot keeps one moment for a scan. What none keeps is due in a second.", []tourStep{
			on("snapshot list --columns prefix,state,boundary,behind,expires_at"),
			on("snapshot gc --columns due"),
		}},
		{"The blob store: payloads that never change, and expire.", []tourStep{
			{args: words("blob put notes/today --retention 24h"), input: "all is well"},
			on("blob read notes/today -o raw"),
		}},
		{"The warm store: chunks of segments, written by compare-and-set on a token.", []tourStep{
			on("warm list users --decode"),
			on("warm cas users 7 v1 --create --columns token"),
			on("warm cas users 7 v2 --expect " + lastWord),
		}},
		{"A store can be checked, moved to another prefix or server, and compared.", []tourStep{
			on("verify --store opaque"),
			on("copy --to-prefix copied --columns created"),
			on("put farewell again --prefix copied --columns version"),
			{args: words("diff --right-prefix copied --columns key,difference"), status: exitIntegrity},
		}},
		{"The Lua behind it all, for audits. A pipe gets tabs, and no header.", []tourStep{
			{args: words("scripts list --columns name,sha1"), head: 2},
		}},
	}
}

func on(line string) tourStep { return tourStep{args: words(line)} }

// words splits a line in which nothing is quoted.
func words(line string) []string { return strings.Fields(line) }
