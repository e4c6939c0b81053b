// Package embedded is a Redis server inside the process, for people and
// scripts that have none at hand: miniredis on a loopback port, made to serve
// the stores of this project and the scripts of other clients as a Redis does.
//
// What it adds to miniredis: time that passes, cmsgpack in scripts, scores and
// script errors in the words of Redis, INFO, sixteen databases, and a file to
// keep the data in. It is made for up to some 20,000 keys: sorted sets are
// sorted anew at each range. Expiries reach at most 292 years ahead; those
// further away are refused.
package embedded

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	lua "github.com/yuin/gopher-lua"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// databases is the number of databases, as on a Redis with its defaults.
const databases = 16

// luaSlots is the size of the Lua data stack. The default of 5,120 slots ends
// scripts that join 2,561 values or unpack that many into a function; with
// these, scripts unpack the 7,999 values that a Redis unpacks, and join 8,000.
// Each run of a script allocates 16 bytes a slot, so more would slow down all.
const luaSlots = 16 << 10

// luaArray is the greatest index that Lua tables keep in an array, which they
// fill from 1 on. With the default of 67,108,864 one stray number as a key takes
// a gigabyte; arrays may grow up to it all the same.
const luaArray = 1 << 20

// setLuaLimits sets the limits for every Lua state made in this process from
// now on: miniredis has no options for them, so the engine's own defaults are
// changed, once, before the first server starts.
var setLuaLimits = sync.OnceFunc(func() {
	lua.RegistrySize = luaSlots
	lua.MaxArrayIndex = luaArray
})

// Options say how to start a server.
type Options struct {
	// Addr is the loopback address and port to listen on, as in
	// "127.0.0.1:6390" or "localhost:0"; empty is a free port of 127.0.0.1.
	Addr string
	// Data is the file that keeps the data from one run to the next; a file
	// that does not exist is an empty store. A lock file of the same name and
	// ".lock" stays beside it. Empty keeps nothing.
	Data string
}

// Server is a running embedded server. Its methods may be called at any time,
// by several goroutines.
type Server struct {
	mini    *miniredis.Miniredis
	redis   *server.Server
	addr    string
	runID   string // of no other server: 40 hex digits
	clock   clock
	scripts rewrites
	roles   sync.Map    // *server.Peer → role
	data    *dataFile   // nil without a file
	wrote   atomic.Bool // whether any command may have changed the data
	door    atomic.Pointer[func(state any)]

	mu     sync.Mutex // held while saving and closing
	closed bool
}

// Start starts a server. With a data file, ctx bounds the wait for another
// process that uses it, which is never longer than [LockWait]; the server
// itself runs until [Server.Close].
//
// It fails with [storeerr.Invalid] for an address that is not of this machine
// alone, with [storeerr.Unavailable] when another process keeps the data file,
// and with [storeerr.Integrity] when the file is damaged or no data file of
// ours: it is left as it is.
func Start(ctx context.Context, opts Options) (*Server, error) {
	addr, err := loopback(opts.Addr)
	if err != nil {
		return nil, err
	}
	setLuaLimits()
	s := &Server{mini: miniredis.NewMiniRedis(), runID: newRunID()}
	if opts.Data != "" {
		if s.data, err = openData(ctx, opts.Data); err != nil {
			return nil, err
		}
	}
	now := s.clock.start(s.mini)
	if s.data != nil {
		if err := s.data.load(s.mini, now); err != nil {
			return nil, joinUnlock(err, s.data)
		}
	}
	if err := s.listen(addr); err != nil {
		return nil, joinUnlock(err, s.data)
	}
	return s, nil
}

func newRunID() string {
	var id [20]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// listen opens the port. Whoever connects before the hook is in place is told
// that the server is loading, as a Redis that starts does.
func (s *Server) listen(addr string) error {
	s.mini.SetError("LOADING Redis is loading the dataset in memory")
	if err := s.mini.StartAddr(addr); err != nil {
		return storeerr.New(storeerr.Failed, "starting the embedded server: %w", err)
	}
	s.addr = s.mini.Addr()
	s.redis = s.mini.Server()
	s.redis.SetPreHook(s.hook)
	return nil
}

// Addr returns the address and port that the server listens on, also when it
// has been closed.
func (s *Server) Addr() string { return s.addr }

// URL returns the address as a Redis URL.
func (s *Server) URL() string { return "redis://" + s.addr }

// Save writes the data to the file as it is at one moment, while clients go on.
// It does nothing without a data file, when nothing was written since the
// start, and after Close.
func (s *Server) Save() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.data == nil || !s.wrote.Load() {
		return nil
	}
	return s.saveLive()
}

// Close ends all connections, stops the server, saves what was written and
// lets go of the data file. Further calls do nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.mini.Close()
	if s.data == nil {
		return nil
	}
	var err error
	if s.wrote.Load() {
		err = s.data.save(s.caller(nil))
	}
	return joinUnlock(err, s.data)
}

// loopback returns the address to listen on, or an error when others than
// this machine could reach it.
func loopback(addr string) (string, error) {
	if addr == "" {
		return "127.0.0.1:0", nil
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", storeerr.New(storeerr.Invalid, "address %q: %w", addr, err)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return "", storeerr.New(storeerr.Invalid,
			"address %q: the embedded server listens on loopback addresses only", addr).
			WithHint("use 127.0.0.1:%s", port)
	}
	return net.JoinHostPort(host, port), nil
}

// joinUnlock lets go of a data file after err, which may be nil.
func joinUnlock(err error, data *dataFile) error {
	if data == nil {
		return err
	}
	if unlock := data.lock.Unlock(); unlock != nil && err == nil {
		return fmt.Errorf("unlocking %s: %w", data.path, unlock)
	}
	return err
}
