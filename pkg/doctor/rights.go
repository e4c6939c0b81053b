package doctor

// What the user may do, asked of ACL DRYRUN: it says whether a command would be
// allowed, and runs nothing.

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// trial is a command on a key of a store.
type trial struct {
	store   Store
	command string
}

// rights are what the user may do, or why that is not known.
type rights struct {
	user   string
	denied map[trial]string // what the server says to what is not allowed
	err    error
}

// gatherRights asks for the rights that the groups need. The error is one of
// the connection.
func gatherRights(ctx context.Context, rdb redis.UniversalClient, o Options) (rights, error) {
	whoami := rdb.Do(ctx, "ACL", "WHOAMI")
	if err := failure(whoami); err != nil {
		return rights{}, err
	}
	user, err := whoami.Text()
	if err != nil {
		return rights{err: refusal("ACL WHOAMI", err)}, nil
	}
	r := rights{user: user, denied: map[trial]string{}}
	left := o.trials()
	// A command is tried with more and more arguments, until they are as many
	// as it takes.
	for args := 0; len(left) > 0 && args <= 3; args++ {
		cmds := make([]*redis.Cmd, len(left))
		_, _ = rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, t := range left {
				cmds[i] = p.Do(ctx, t.dryRun(user, o.Prefix, args)...)
			}
			return nil
		})
		var again []trial
		for i, cmd := range cmds {
			verdict, err := cmd.Text()
			switch {
			case err == nil && verdict != "OK":
				r.denied[left[i]] = verdict
			case err == nil:
			case !isReply(err):
				return rights{}, err
			case strings.Contains(err.Error(), "wrong number of arguments"):
				again = append(again, left[i])
			case strings.Contains(err.Error(), "not found"):
				r.denied[left[i]] = "the server does not know the command"
			default:
				return rights{err: refusal("ACL DRYRUN", err)}, nil
			}
		}
		left = again
	}
	return r, nil
}

// trials returns each command of each store that is in use, once.
func (o Options) trials() []trial {
	var all []trial
	for _, g := range Groups() {
		if !o.wants(g.Store) || o.ReadOnly && g.Writes {
			continue
		}
		for _, command := range g.Commands() {
			if t := (trial{g.Store, command}); !slices.Contains(all, t) {
				all = append(all, t)
			}
		}
	}
	return all
}

// dryRun returns the command that tries another one with so many arguments: a
// key and zeros.
func (t trial) dryRun(user, prefix string, args int) []any {
	run := []any{"ACL", "DRYRUN", user}
	for word := range strings.FieldsSeq(t.command) {
		run = append(run, word)
	}
	key, err := sampleKey(t.store, prefix)
	if err != nil || t.store == All {
		key = "0"
	}
	second := "0"
	if t.command == "RENAME" {
		second = key // it is a key, too
	}
	return append(run, []any{key, second, "0"}[:args]...)
}

// judge says whether the user may run a group's commands.
func (r rights) judge(g Group, o Options) finding {
	switch {
	case g.Writes && o.ReadOnly:
		return skip(errReadOnly)
	case r.err != nil:
		return skip(r.err)
	}
	keys := o.hasKeys(g)
	if keys {
		if _, err := sampleKey(g.Store, o.Prefix); err != nil {
			return skip(err)
		}
	}
	var missing []string
	locked := false
	for _, command := range g.Commands() {
		denial, denied := r.denied[trial{g.Store, command}]
		switch {
		case !denied:
		case isKeyDenial(denial):
			locked = true
		default:
			missing = append(missing, command)
		}
	}
	rules := Rules(missing)
	means := g.Verbs + ": refused"
	switch {
	case locked && keys:
		rules = strings.TrimSpace(rules + " " + KeyRule(g.Store, o.Prefix))
	case len(missing) == 0 && !keys && g.Store != All:
		return ok("all allowed; keys not checked without a prefix")
	case len(missing) == 0:
		return ok("all allowed")
	}
	found := "lacks " + rules
	advice := fmt.Sprintf("ACL SETUSER %s %s", r.user, rules)
	if len(g.Scripts) == 0 {
		return warn(found, means+"; no other command needs it", advice)
	}
	return fail(found, means, advice)
}

// hasKeys tells whether it is known which keys a group works on.
func (o Options) hasKeys(g Group) bool { return g.Store != All && o.Prefix != "" }

// needs returns the rules for all that a group needs.
func (o Options) needs(g Group) string {
	rules := Rules(g.Commands())
	if o.hasKeys(g) {
		rules += " " + KeyRule(g.Store, o.Prefix)
	}
	return rules
}

// isKeyDenial tells whether a command was refused for its key alone.
func isKeyDenial(verdict string) bool { return strings.Contains(verdict, " key") }
