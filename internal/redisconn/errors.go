// Wording what goes wrong before a command is sent.

package redisconn

import (
	"context"
	"errors"
	"net"
	"os"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// dialError names the address and the cause in place of the system call.
func dialError(addr string, err error) error {
	failed := storeerr.New(storeerr.Unavailable, "cannot connect to %s: %s", addr, reason(err)).
		WithHint("is the server running there, and reachable from here?")
	failed.Err = err
	return failed
}

// notSent names the failure of a command that never left: the connection or
// its handshake failed. A cancellation stays one.
func notSent(addr string, err error) error {
	if _, ok := errors.AsType[*storeerr.Error](err); ok || errors.Is(err, context.Canceled) {
		return storeerr.NotSent(err)
	}
	failed := storeerr.New(storeerr.Unavailable, "the connection to %s failed: %s", addr, reason(err))
	if isTimeout(err) {
		failed = storeerr.New(storeerr.Unavailable, "%s did not answer in time", addr)
	}
	failed.Err = err
	return failed
}

// reason returns the innermost text of a network error.
func reason(err error) string {
	if isTimeout(err) {
		return "timed out"
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns.Err
	}
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		return call.Err.Error()
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err.Error()
	}
	if closedByPeer(err) {
		return "the server closed it"
	}
	return err.Error()
}

func isTimeout(err error) bool {
	netErr, ok := errors.AsType[net.Error](err)
	return ok && netErr.Timeout() || errors.Is(err, context.DeadlineExceeded)
}
