package storeerr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Effect says what a request may have done on the server, so that a lost
// answer can be named for what it is.
type Effect int

// The effects.
const (
	// Reads change nothing: a lost answer is Unavailable.
	Reads Effect = iota
	// Writes may have been applied: a lost answer is UnknownOutcome.
	Writes
)

// errNotSent marks the failure of a request of which no byte left this process.
type errNotSent struct{ error }

func (e errNotSent) Unwrap() error { return e.error }

// NotSent marks err as the failure of a request that never left this
// process, so that FromRedis calls it Unavailable even for a write.
func NotSent(err error) error { return errNotSent{err} }

// refusals maps what a server says to a kind. The first row of which a reply
// holds the text wins; a row is matched inside script errors too.
var refusals = []struct {
	text string
	kind Kind
	say  string
	hint string
}{
	{"READONLY", ReadOnly, "the server is a read-only replica", "connect to the primary"},
	{"MISCONF", ReadOnly, "the server refuses writes because it cannot save its data", "see the server's log and its disk"},
	{"NOREPLICAS", ReadOnly, "the server refuses writes because too few replicas are attached", "see min-replicas-to-write and the replicas"},
	{"OOM ", OutOfMemory, "the server is out of memory (maxmemory)", "free memory or raise maxmemory on the server"},
	{"NOAUTH", Denied, "the server asks for a password", "set KEYSPACECTL_PASSWORD or --password-file"},
	{"WRONGPASS", Denied, "the user name or password is wrong", ""},
	{"invalid password", Denied, "the password is wrong", ""},
	{"without any password configured", Denied, "the server has no password for this user, and one was given", ""},
	{"NOPERM", Denied, "the user lacks a permission", "see ACL GETUSER on the server"},
	{"The user executing the script can't", Denied, "the user lacks a permission that a script needs", "see ACL GETUSER on the server"},
	{"LOADING", Unavailable, "the server is loading its data", "try again in a while"},
	{"MASTERDOWN", Unavailable, "the replica has lost its primary", ""},
	{"CLUSTERDOWN", Unavailable, "the cluster is down", "see CLUSTER INFO on the server"},
	{"TRYAGAIN", Unavailable, "the cluster is moving this slot", "try again"},
	{"BUSY ", Unavailable, "the server is busy running a script", "try again; see the server's slow log"},
	{"Script killed by user", Unavailable, "the script was killed on the server before it changed anything", "try again"},
	{"max number of clients reached", Unavailable, "the server has no room for another connection", "see maxclients on the server"},
	{"WRONGTYPE", Integrity, "a key holds another type than the store keeps there", ""},
	{"MOVED ", Invalid, "the server is a node of a Redis Cluster, and another one holds the key", "add --cluster"},
	{"ASK ", Invalid, "the server is a node of a Redis Cluster, and another one holds the key", "add --cluster"},
	{"cluster support disabled", Invalid, "the server is no Redis Cluster", "leave out --cluster"},
	{"DB index is out of range", Invalid, "the server has no such database", "see the setting databases on the server"},
}

// FromRedis turns an error of the Redis client into an [*Error]; nil stays
// nil. Errors that already are one, and cancellations of a read, come back
// as they are. doing is the action in the message: "reading row \"a\"".
func FromRedis(err error, effect Effect, doing string) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if reply, ok := errors.AsType[redis.Error](err); ok && !errors.Is(err, redis.Nil) {
		return fromReply(err, reply.Error(), effect, doing)
	}
	_, notSent := errors.AsType[errNotSent](err)
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		notSent = true
	}
	if errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted) {
		notSent = true
	}
	if effect == Writes && !notSent {
		return &Error{
			Kind:    UnknownOutcome,
			Message: fmt.Sprintf("%s: the answer was lost, the write may have been applied: %s", doing, plain(err)),
			Hint:    "read the key to find out",
			Err:     err,
		}
	}
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return &Error{Kind: Unavailable, Message: fmt.Sprintf("%s: %s", doing, plain(err)), Err: err}
}

// fromReply names what a server answered. A script that died midway may have
// changed something: that is an unknown outcome, unless the reason is one for
// which no write of the script can have been carried out.
func fromReply(err error, text string, effect Effect, doing string) error {
	died := effect == Writes && strings.Contains(text, "user_script")
	for _, r := range refusals {
		if !strings.Contains(text, r.text) {
			continue
		}
		if died && (r.kind == Denied || r.kind == Integrity) {
			break
		}
		return &Error{Kind: r.kind, Message: fmt.Sprintf("%s: %s: %s", doing, r.say, text), Hint: r.hint, Err: err}
	}
	if died {
		return &Error{
			Kind:    UnknownOutcome,
			Message: fmt.Sprintf("%s: the script died on the server and may have changed something: %s", doing, text),
			Hint:    "read the keys to find out",
			Err:     err,
		}
	}
	return &Error{Kind: Failed, Message: fmt.Sprintf("%s: the server answered: %s", doing, text), Err: err}
}

// AnswerLost tells an UnknownOutcome whose answer was lost on the way from one
// of which the server told that the script died: only the first may have been
// applied whole.
func AnswerLost(err error) bool {
	_, replied := errors.AsType[redis.Error](err)
	return errors.Is(err, UnknownOutcome) && !replied
}

// plain words the common failures of a connection without the client's jargon.
func plain(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timed out"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the server closed the connection"
	case errors.Is(err, net.ErrClosed):
		return "the connection was closed"
	}
	return err.Error()
}
