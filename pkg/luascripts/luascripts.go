// Package luascripts holds the Lua that the stores run inside Redis: one
// embedded file a script, its name, its source as sent and its SHA-1.
//
// A script file starts with a comment that says what it does and lists KEYS,
// ARGV and replies. A line "-- Uses: a, b" puts lib/a.lua and lib/b.lua in
// front of it; the assembled text is what Redis sees, so it is also what
// Source and SHA1 speak of. A line "-- Reads only." marks a script that may be
// run again after a lost answer.
//
// Scripts name every key they touch in KEYS, take data as plain ARGV, and
// return numbers as decimal text.
package luascripts

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

//go:embed *.lua lib/*.lua
var files embed.FS

var (
	usesLine  = regexp.MustCompile(`(?m)^-- Uses: (.+)\n`)
	readsLine = regexp.MustCompile(`(?m)^Reads only\.$`)
	callName  = regexp.MustCompile(`call\('([A-Z]+)'`)
)

// Script is one Lua script, as Redis sees it.
type Script struct {
	Name     string // the file's name without .lua, as in "opaque_write"
	Source   string // the text sent to Redis
	SHA1     string // lower-case hex of Source's SHA-1, as in EVALSHA and SLOWLOG
	Doc      string // the header comment, without its dashes
	ReadOnly bool   // it changes nothing, so running it twice is as good as once
	// Commands are the Redis commands that it may call, sorted. The user who
	// runs it needs the right to each.
	Commands []string
	script   *redis.Script
}

// load reads and assembles the embedded files once.
var load = sync.OnceValue(func() map[string]*Script {
	scripts := map[string]*Script{}
	names, err := fs.Glob(files, "*.lua")
	if err != nil {
		panic(err)
	}
	for _, file := range names {
		s := assemble(strings.TrimSuffix(path.Base(file), ".lua"))
		scripts[s.Name] = s
	}
	return scripts
})

// All returns every script, sorted by name.
func All() []*Script {
	all := make([]*Script, 0, len(load()))
	for _, s := range load() {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *Script) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Lookup returns the script of a name, and whether there is one.
func Lookup(name string) (*Script, bool) {
	s, ok := load()[name]
	return s, ok
}

// Must returns the script of a name. It panics when there is none: names are
// constants of the code that calls it.
func Must(name string) *Script {
	s, ok := Lookup(name)
	if !ok {
		panic(fmt.Sprintf("luascripts: no script %q", name))
	}
	return s
}

// Run runs the script by EVALSHA and, where the server does not know it, by
// EVAL. keys are all the keys it touches.
func (s *Script) Run(ctx context.Context, c redis.Scripter, keys []string, args ...any) *redis.Cmd {
	return s.script.Run(ctx, c, keys, args...)
}

// Load puts every script into the server's cache, in a cluster into that of
// each primary. Nothing depends on it: Run sends what a server does not know.
// The error is one of storeerr's kinds.
func Load(ctx context.Context, c redis.Scripter) error {
	if cluster, ok := c.(*redis.ClusterClient); ok {
		err := cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error { return loadAll(ctx, node) })
		return storeerr.FromRedis(err, storeerr.Reads, "loading the scripts")
	}
	return loadAll(ctx, c)
}

func loadAll(ctx context.Context, c redis.Scripter) error {
	for _, s := range All() {
		if err := s.script.Load(ctx, c).Err(); err != nil {
			return storeerr.FromRedis(err, storeerr.Reads, fmt.Sprintf("loading script %s", s.Name))
		}
	}
	return nil
}

// Call is one run of a script inside a pipeline.
type Call struct {
	Script *Script
	Keys   []string
	Args   []any
}

// Pipeline runs calls in one round trip by EVALSHA; those that the server
// does not know are run by EVAL in a second one. The commands come back in
// the order of the calls, each with its own reply or error.
func Pipeline(ctx context.Context, c redis.UniversalClient, calls []Call) []*redis.Cmd {
	cmds := make([]*redis.Cmd, len(calls))
	// Each command keeps its own error, so that of the pipeline adds nothing.
	_, _ = c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, call := range calls {
			cmds[i] = call.Script.script.EvalSha(ctx, p, call.Keys, call.Args...)
		}
		return nil
	})
	var unknown []int
	for i, cmd := range cmds {
		if redis.HasErrorPrefix(cmd.Err(), "NOSCRIPT") {
			unknown = append(unknown, i)
		}
	}
	if len(unknown) == 0 {
		return cmds
	}
	_, _ = c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, i := range unknown {
			cmds[i] = calls[i].Script.script.Eval(ctx, p, calls[i].Keys, calls[i].Args...)
		}
		return nil
	})
	return cmds
}

// assemble puts the libraries that a script uses in front of it. It panics on
// a name that is not embedded, which any test finds.
func assemble(name string) *Script {
	own := mustRead(name + ".lua")
	source := own
	if uses := usesLine.FindStringSubmatch(own); uses != nil {
		var libs strings.Builder
		for lib := range strings.SplitSeq(uses[1], ",") {
			libs.WriteString(mustRead("lib/" + strings.TrimSpace(lib) + ".lua"))
			libs.WriteByte('\n')
		}
		source = libs.String() + own
	}
	script := redis.NewScript(source)
	doc := header(own)
	return &Script{
		Name: name, Source: source, SHA1: script.Hash(), Doc: doc, ReadOnly: readsLine.MatchString(doc),
		Commands: commands(source), script: script,
	}
}

// commands returns what a script calls. Each call names its command.
func commands(source string) []string {
	var names []string
	for _, found := range callName.FindAllStringSubmatch(source, -1) {
		names = append(names, found[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// header returns the leading comment lines of a script file, bare.
func header(source string) string {
	var lines []string
	for line := range strings.Lines(source) {
		text, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "--")
		if !ok {
			break
		}
		lines = append(lines, strings.TrimPrefix(text, " "))
	}
	return strings.Join(lines, "\n")
}

func mustRead(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("luascripts: %v", err))
	}
	return string(text)
}
