// Tests of the scripts as texts: what the house rules ask of each.
package luascripts_test

import (
	"crypto/sha1"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
)

func TestNames(t *testing.T) {
	t.Parallel()
	all := luascripts.All()
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
		if found, ok := luascripts.Lookup(s.Name); !ok || found != s || luascripts.Must(s.Name) != s {
			t.Errorf("%s: Lookup returns %v, %v", s.Name, found, ok)
		}
	}
	if len(all) < 10 || !slices.IsSorted(names) {
		t.Errorf("All returns %v", names)
	}
	if s, ok := luascripts.Lookup("none"); ok {
		t.Errorf("Lookup finds %v", s)
	}
	defer func() {
		if got := recover(); got != `luascripts: no script "none"` {
			t.Errorf("Must panics with %v", got)
		}
	}()
	luascripts.Must("none")
}

// each runs a parallel subtest for each script.
func each(t *testing.T, test func(t *testing.T, s *luascripts.Script)) {
	t.Helper()
	t.Parallel()
	for _, s := range luascripts.All() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

func TestSHA1(t *testing.T) {
	each(t, func(t *testing.T, s *luascripts.Script) {
		sum := sha1.Sum([]byte(s.Source))
		if want := hex.EncodeToString(sum[:]); s.SHA1 != want {
			t.Errorf("SHA1 is %s, the source's is %s", s.SHA1, want)
		}
	})
}

var comment = regexp.MustCompile(`(?m)^ *--.*$`)

func TestHeaders(t *testing.T) {
	each(t, func(t *testing.T, s *luascripts.Script) {
		if !strings.HasPrefix(s.Doc, s.Name+": ") {
			t.Errorf("the header does not begin with %q", s.Name+": ")
		}
		code := comment.ReplaceAllString(s.Source, "")
		for header, word := range map[string]string{"KEYS": "KEYS", "ARGV": "ARGV", "Reply": "return"} {
			names := strings.Contains(s.Doc, "\n"+header+" ")
			if uses := strings.Contains(code, word); names != uses {
				t.Errorf("the header names %s: %v; the script uses it: %v", header, names, uses)
			}
		}
		if !strings.Contains(s.Source, "\nlocal ") || strings.Contains(s.Source, "\r") || strings.Contains(s.Source, "\t") {
			t.Error("the source has a tab, a carriage return or no code")
		}
	})
}

// global lists what a script may use beside its own locals. Numbers leave by
// string.format, data comes as plain ARGV: no tostring, cjson or cmsgpack.
var global = []string{"ARGV", "KEYS", "error", "ipairs", "math", "redis", "string", "table", "tonumber", "type", "unpack", "pcall", "tostring"}

func TestGlobals(t *testing.T) {
	each(t, func(t *testing.T, s *luascripts.Script) {
		chunk, err := parse.Parse(strings.NewReader(s.Source), s.Name)
		if err != nil {
			t.Fatal(err)
		}
		proto, err := lua.Compile(chunk, s.Name)
		if err != nil {
			t.Fatal(err)
		}
		checkGlobals(t, proto)
	})
}

// checkGlobals looks at the code of a function and of those inside it.
func checkGlobals(t *testing.T, proto *lua.FunctionProto) {
	for at, instruction := range proto.Code {
		code, operand := int(instruction>>26), instruction&0x3ffff
		line := proto.DbgSourcePositions[at]
		switch code {
		case lua.OP_SETGLOBAL:
			t.Errorf("line %d sets the global %s", line, proto.Constants[operand])
		case lua.OP_GETGLOBAL:
			if name := proto.Constants[operand].String(); !slices.Contains(global, name) {
				t.Errorf("line %d uses the global %s", line, name)
			}
		}
	}
	for _, inner := range proto.FunctionPrototypes {
		checkGlobals(t, inner)
	}
}

var reads = []string{
	"EXISTS", "GET", "GETRANGE", "HEXISTS", "HGET", "HKEYS", "HLEN", "HMGET", "HSTRLEN", "LLEN", "PTTL", "SCARD", "STRLEN", "TIME", "TYPE", "XLEN",
	"ZCARD", "ZCOUNT", "ZRANGE", "ZRANGEBYSCORE", "ZREVRANGE", "ZREVRANGEBYSCORE", "ZSCORE",
}

// A script says that it reads only if and only if it calls nothing that writes.
func TestReadOnly(t *testing.T) {
	each(t, func(t *testing.T, s *luascripts.Script) {
		readOnly := true
		for _, command := range s.Commands {
			readOnly = readOnly && slices.Contains(reads, command)
		}
		if s.ReadOnly != readOnly {
			t.Errorf("ReadOnly is %v, the commands in it say %v", s.ReadOnly, readOnly)
		}
	})
}

func TestCommands(t *testing.T) {
	for name, want := range map[string]string{
		"blob_renew":           "PEXPIRE PEXPIREAT TIME TYPE",
		"opaque_snapshot_open": "GET HSET PEXPIRE TIME TYPE ZADD ZCARD ZCOUNT ZRANGE ZRANGEBYSCORE ZREM ZSCORE",
		"warm_list":            "EXISTS HEXISTS HGET HMGET HSTRLEN",
	} {
		if got := strings.Join(luascripts.Must(name).Commands, " "); got != want {
			t.Errorf("%s calls %s, want %s", name, got, want)
		}
	}
	each(t, func(t *testing.T, s *luascripts.Script) {
		// A call whose command is no literal would be missing from Commands.
		if found := computedCall.FindString(s.Source); found != "" {
			t.Errorf("%s: the command is not named", found)
		}
	})
}

var computedCall = regexp.MustCompile(`redis\.p?call\([^'].*`)

// literalKey is a Redis command on a key that the script names itself.
var literalKey = regexp.MustCompile(`call\('[A-Z]+',\s*['"]`)

func TestKeysAreDeclared(t *testing.T) {
	each(t, func(t *testing.T, s *luascripts.Script) {
		if call := literalKey.FindString(s.Source); call != "" {
			t.Errorf("%s: the key is not from KEYS", call)
		}
		if strings.Contains(s.Source, "call('KEYS'") || strings.Contains(s.Source, "call('SCAN'") {
			t.Error("the script looks for keys")
		}
	})
}
