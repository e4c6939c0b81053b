package doctor

// What a server tells of itself, gathered before any of it is judged.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// facts are the answers of one server.
type facts struct {
	node        string // its address in a cluster, else empty
	unreachable error  // why there are no answers

	info, config, hello, cluster settings

	libraries  []string // of Lua, and EVALSHA where that works
	evalErr    error
	scripts    []bool // whether each of luascripts.All is loaded
	scriptsErr error
	ahead      time.Duration // the server's clock against this machine's
	blur       time.Duration // how far that may be wrong
	timeErr    error
	trips      []time.Duration // sorted
	rights     rights
}

// gatherAll asks every server that holds keys, all at the same time.
func gatherAll(ctx context.Context, rdb redis.UniversalClient, o Options) ([]*facts, error) {
	cluster, ok := rdb.(*redis.ClusterClient)
	if !ok {
		f := &facts{cluster: settings{err: errors.New("no cluster")}}
		return []*facts{f}, f.gather(ctx, rdb, o)
	}
	var mu sync.Mutex
	var all []*facts
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		f := &facts{node: master.Options().Addr}
		f.unreachable = f.gather(ctx, master, o)
		if f.unreachable == nil {
			f.cluster = parse("CLUSTER INFO", master.ClusterInfo(ctx))
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, f)
		return nil
	})
	if err == nil && len(all) == 0 {
		err = storeerr.New(storeerr.Unavailable, "the cluster has no primary").WithHint("see CLUSTER NODES on the server")
	}
	slices.SortFunc(all, func(a, b *facts) int { return strings.Compare(a.node, b.node) })
	if err == nil && !slices.ContainsFunc(all, func(f *facts) bool { return f.unreachable == nil }) {
		err = all[0].unreachable
	}
	return all, err
}

// gather asks one server. It fails where the connection does.
func (f *facts) gather(ctx context.Context, rdb redis.UniversalClient, o Options) error {
	var info *redis.StringCmd
	configs := map[string]*redis.MapStringStringCmd{}
	var loaded *redis.BoolSliceCmd
	cmds, _ := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		info = p.Info(ctx)
		for _, name := range []string{bulkLimit, busyThreshold, luaTimeLimit} {
			configs[name] = p.ConfigGet(ctx, name)
		}
		loaded = p.ScriptExists(ctx, hashes()...)
		return nil
	})
	hello := rdb.Do(ctx, "HELLO")
	libraries := rdb.Eval(ctx, librariesScript, nil)
	if err := failure(append(cmds, hello, libraries)...); err != nil {
		return err
	}
	f.info = parse("INFO", info)
	f.config = settings{command: "CONFIG GET", values: map[string]string{}}
	for _, config := range configs {
		f.config.err = config.Err()
		for name, value := range config.Val() {
			f.config.values[name] = value
		}
	}
	f.hello = fromHello(hello)
	f.scripts, f.scriptsErr = loaded.Result()
	f.libraries, f.evalErr = libraries.StringSlice()
	if f.evalErr == nil {
		known := rdb.EvalSha(ctx, redis.NewScript(librariesScript).Hash(), nil)
		if err := failure(known); err != nil {
			return err
		}
		if known.Err() == nil {
			f.libraries = append([]string{"EVALSHA"}, f.libraries...)
		}
	}
	if err := f.measure(ctx, rdb, o.Clock); err != nil {
		return err
	}
	var err error
	f.rights, err = gatherRights(ctx, rdb, o)
	return err
}

// librariesScript answers which libraries scripts may use besides the core.
const librariesScript = `local found = {}
if pcall(function() return cjson.encode end) then found[#found + 1] = 'cjson' end
if pcall(function() return cmsgpack.pack end) then found[#found + 1] = 'cmsgpack' end
return found`

func hashes() []string {
	var all []string
	for _, s := range luascripts.All() {
		all = append(all, s.SHA1)
	}
	return all
}

// trips is how many round trips are timed.
const trips = 20

// measure times round trips, and reads the server's clock.
func (f *facts) measure(ctx context.Context, rdb redis.UniversalClient, clock func() time.Time) error {
	for range trips {
		began := time.Now()
		if err := failure(rdb.Ping(ctx)); err != nil {
			return err
		}
		f.trips = append(f.trips, time.Since(began))
	}
	slices.Sort(f.trips)
	asked := clock()
	told := rdb.Time(ctx)
	f.blur = clock().Sub(asked) / 2
	f.ahead = told.Val().Sub(asked.Add(f.blur))
	f.timeErr = told.Err()
	return failure(told)
}

// failure returns the first error that is no answer of the server.
func failure(cmds ...redis.Cmder) error {
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil && !isReply(err) {
			return err
		}
	}
	return nil
}

// settings are what a command tells by name, or why it does not.
type settings struct {
	command string
	values  map[string]string
	err     error
}

// get returns a value, or why it is not known.
func (s settings) get(name string) (string, error) {
	if value, ok := s.values[name]; ok {
		return value, nil
	}
	if s.err != nil {
		return "", refusal(s.command, s.err)
	}
	return "", fmt.Errorf("%s does not tell %s", s.command, name)
}

// refusal says in short why a command told nothing.
func refusal(command string, err error) error {
	switch text := strings.ToLower(err.Error()); {
	case redis.HasErrorPrefix(err, "NOPERM"):
		return fmt.Errorf("the user may not run %s", command)
	case strings.Contains(text, "unknown command"), strings.Contains(text, "unknown subcommand"),
		strings.Contains(text, "wrong number of arguments"): // HELLO of old servers asks for a version
		return fmt.Errorf("the server does not know %s", command)
	case !isReply(err):
		return err
	}
	return fmt.Errorf("the server answered %s with: %w", command, err)
}

// parse reads lines of name:value.
func parse(command string, reply *redis.StringCmd) settings {
	s := settings{command: command, values: map[string]string{}, err: reply.Err()}
	for line := range strings.Lines(reply.Val()) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok {
			s.values[name] = value
		}
	}
	return s
}

// fromHello reads the reply to HELLO: a map, or in RESP2 a list of pairs.
func fromHello(reply *redis.Cmd) settings {
	s := settings{command: "HELLO", values: map[string]string{}, err: reply.Err()}
	switch pairs := reply.Val().(type) {
	case map[any]any:
		for name, value := range pairs {
			s.values[fmt.Sprint(name)] = fmt.Sprint(value)
		}
	case []any:
		for i := 0; i+1 < len(pairs); i += 2 {
			s.values[fmt.Sprint(pairs[i])] = fmt.Sprint(pairs[i+1])
		}
	}
	return s
}
