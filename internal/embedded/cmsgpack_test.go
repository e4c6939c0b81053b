// Tests of cmsgpack on the embedded server against the one inside Redis.
package embedded_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
)

func TestCmsgpackBytes(t *testing.T) {
	t.Parallel()
	rep := func(n int) string { return strings.Repeat("61", n) }
	tests := []struct{ value, want string }{
		{"''", "a0"},
		{"string.rep('a', 31)", "bf" + rep(31)},
		{"string.rep('a', 32)", "d920" + rep(32)},
		{"string.rep('a', 255)", "d9ff" + rep(255)},
		{"string.rep('a', 256)", "da0100" + rep(256)},
		{"string.rep('a', 65535)", "daffff" + rep(65535)},
		{"string.rep('a', 65536)", "db00010000" + rep(65536)},
		{"0", "00"}, {"127", "7f"}, {"128", "cc80"}, {"255", "ccff"}, {"256", "cd0100"},
		{"65535", "cdffff"}, {"65536", "ce00010000"}, {"4294967295", "ceffffffff"},
		{"4294967296", "cf0000000100000000"}, {"1733000012345", "cf000001937ed9a239"},
		{"-1", "ff"}, {"-32", "e0"}, {"-33", "d0df"}, {"-128", "d080"}, {"-129", "d1ff7f"},
		{"-32769", "d2ffff7fff"}, {"-2147483649", "d3ffffffff7fffffff"}, {"-2^63", "d38000000000000000"},
		{"2^63", "ca5f000000"}, {"0.5", "ca3f000000"}, {"0.1", "cb3fb999999999999a"}, {"-0.25", "cabe800000"},
		{"2^1024", "ca7f800000"}, {"-2^1024", "caff800000"}, {"2^1023 * 1.5", "cb7fe8000000000000"}, {"2^-149", "ca00000001"}, {"2^-1074", "cb0000000000000001"},
		{"2^-126", "ca00800000"}, {"2^128", "cb47f0000000000000"},
		{"nil", "c0"}, {"false", "c2"}, {"true", "c3"}, {"tostring", "c0"},
		{"{}", "90"}, {"{1, 'a', false}", "9301a161c2"},
		{"{a = 1}", "81a16101"}, {"{[2] = 'x'}", "8102a178"}, {"{[1.5] = 1}", "81ca3fc0000001"},
		{"{'k', 'v', '1', 0, false}", "95a16ba176a13100c2"},
		{"1, 'a'", "01a161"},
	}
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		c := s.Client(t)
		for _, tt := range tests {
			got, err := c.Eval(t.Context(), "return cmsgpack.pack("+tt.value+")", nil).Text()
			if hex.EncodeToString([]byte(got)) != tt.want || err != nil {
				t.Errorf("pack(%s) = %.60x, %v, want %.60s", tt.value, got, err, tt.want)
			}
		}
	})
}

// readable returns what unpack makes of bytes, in a form that is the same on
// both servers: numbers as they are packed, maps sorted.
const readable = `
local function show(v)
	if v ~= v then return 'nan' end
	if type(v) ~= 'table' then return cmsgpack.pack(v) end
	local parts = {}
	for k, e in pairs(v) do parts[#parts + 1] = show(k) .. '=' .. show(e) end
	table.sort(parts)
	return '{' .. table.concat(parts, ',') .. '}'
end
local shown = {}
for i = 1, #ARGV do
	local r = {pcall(cmsgpack.unpack, ARGV[i])}
	if r[1] then
		local parts = {}
		for j = 2, table.maxn(r) do parts[#parts + 1] = show(r[j]) end
		shown[i] = table.concat(parts, ';')
	else
		shown[i] = 'error: ' .. string.gsub(tostring(r[2]), '^.*:%d+: ', '')
	end
end
return shown`

func TestCmsgpackReadsWhatRedisReads(t *testing.T) {
	t.Parallel()
	inputs := []any{
		"", "\x01\xa1a\xc0", "\xc4\x01a", "\xc7\x01\x01a", "\xc1", "\xd4\x01a", "\xd9", "\xd9\x05ab", "\xda\x00", "\xdb\x00\x00\x00\x01",
		"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", "\xd3\xff\xff\xff\xff\xff\xff\xff\xff", "\xd3\x80\x00\x00\x00\x00\x00\x00\x00",
		"\xd0\x80", "\xd1\x80\x00", "\xd2\x80\x00\x00\x00", "\xcd\x00\x01", "\xca\x3f\x80\x00\x00", "\xca\x7f\x80\x00\x00",
		"\xca\x80\x00\x00\x01", "\xcb\xff\xf0\x00\x00\x00\x00\x00\x00", "\xcb\x00\x0f\xff\xff\xff\xff\xff\xff", "\xcb\x3f",
		"\x92\x01", "\x93\x01\xc0\x03", "\xdc\x00\x01\x05", "\xdd\x00\x00\x00\x01\x05", "\xdd\xff\xff\xff\xff", "\x82\x01\x02\xa1a\x03",
		"\xde\x00\x01\x01\x02", "\xdf\x00\x00\x00\x01\x01\x02", "\xdf\x00\x00\x00\x02\x01\x02", "\x90\x80\xff\xe0\x7f",
	}
	mini, real := testserver.Embedded(t).Client(t), testserver.Real(t).Client(t)
	ctx := t.Context()
	check := func(t interface{ Errorf(string, ...any) }, inputs []any) {
		want, wantErr := real.Eval(ctx, readable, nil, inputs...).StringSlice()
		got, gotErr := mini.Eval(ctx, readable, nil, inputs...).StringSlice()
		if gotErr != nil || wantErr != nil {
			t.Errorf("errors %v and, from Redis, %v", gotErr, wantErr)
			return
		}
		for i := range inputs {
			if got[i] != want[i] {
				t.Errorf("unpack(%q) = %q, Redis %q", inputs[i], got[i], want[i])
			}
		}
	}
	if check(t, inputs); t.Failed() {
		return
	}
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(luaValue(2), 1, 10).Draw(rt, "values")
		packed, err := real.Eval(ctx, packAll(values), nil).StringSlice()
		if err != nil {
			rt.Fatal(err)
		}
		var inputs []any
		for _, text := range packed {
			at := rapid.IntRange(0, len(text)-1).Draw(rt, "at")
			damaged := []byte(text)
			damaged[at] = rapid.Byte().Draw(rt, "damage")
			inputs = append(inputs, text, text[:at], string(damaged))
		}
		check(rt, inputs)
	})
}

func TestCmsgpackPacksAsRedisPacks(t *testing.T) {
	t.Parallel()
	mini, real := testserver.Embedded(t).Client(t), testserver.Real(t).Client(t)
	ctx := t.Context()
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(luaValue(3), 1, 20).Draw(rt, "values")
		want, wantErr := real.Eval(ctx, packAll(values), nil).StringSlice()
		got, gotErr := mini.Eval(ctx, packAll(values), nil).StringSlice()
		if gotErr != nil || wantErr != nil {
			rt.Fatalf("errors %v and, from Redis, %v", gotErr, wantErr)
		}
		for i, value := range values {
			if got[i] != want[i] {
				rt.Errorf("pack(%s) = %x, Redis %x", value, got[i], want[i])
			}
		}
	})
}

func TestCmsgpackUnpackInParts(t *testing.T) {
	t.Parallel()
	tests := []struct{ call, want string }{
		{`unpack_one('\1\2\3')`, "[1 1]"},
		{`unpack_one('\1\2\3', 2)`, "[-1 3]"},
		{`unpack_one('\1', 1)`, "[-1]"},
		{`unpack_limit('\1\2\3', 2)`, "[2 1 2]"},
		{`unpack_limit('\1\2\3', 9, 1)`, "[-1 2 3]"},
	}
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		c := s.Client(t)
		for _, tt := range tests {
			if got := reply(c.Eval(t.Context(), "return {cmsgpack."+tt.call+"}", nil)); got != tt.want {
				t.Errorf("%s = %s, want %s", tt.call, got, tt.want)
			}
		}
		for _, call := range []string{`pack()`, `unpack_one('\1', 2)`, `unpack_one('\1', -1)`, `unpack({})`} {
			if err := c.Eval(t.Context(), "return cmsgpack."+call, nil).Err(); err == nil {
				t.Errorf("%s: no error", call)
			}
		}
		deep := "local t = {} for _ = 1, 20 do t = {t} end return cmsgpack.pack(t)"
		if got, want := c.Eval(t.Context(), deep, nil).Val(), strings.Repeat("\x91", 16)+"\xc0"; got != want {
			t.Errorf("20 levels pack to %x, want %x", got, want)
		}
		long := "local t = {} for i = 1, 20000 do t[i] = i end return #cmsgpack.pack(t)"
		if got := c.Eval(t.Context(), long, nil).Val(); got != int64(59621) {
			t.Errorf("20,000 numbers pack to %v bytes, want 59621", got)
		}
	})
}

// packAll returns a script that packs Lua expressions one by one.
func packAll(values []string) string {
	return "return {cmsgpack.pack(" + strings.Join(values, "), cmsgpack.pack(") + ")}"
}

// luaValue generates Lua expressions for values of up to so many levels, with
// maps of one pair, because the order of more is not defined.
func luaValue(levels int) *rapid.Generator[string] {
	kinds := []*rapid.Generator[string]{luaInteger(), luaFloat(), luaString(), rapid.SampledFrom([]string{"nil", "true", "false"})}
	if levels > 0 {
		inner := luaValue(levels - 1).Filter(func(v string) bool { return v != "nil" })
		kinds = append(kinds,
			rapid.Map(rapid.SliceOfN(inner, 0, 20), func(v []string) string { return "{" + strings.Join(v, ",") + "}" }),
			rapid.Custom(func(t *rapid.T) string {
				return "{[" + luaString().Draw(t, "key") + "]=" + inner.Draw(t, "value") + "}"
			}))
	}
	return rapid.OneOf(kinds...)
}

func luaInteger() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		n := math.Ldexp(1, rapid.IntRange(0, 63).Draw(t, "bits"))
		n += float64(rapid.IntRange(-2, 2).Draw(t, "off"))
		if rapid.Bool().Draw(t, "negative") {
			n = -n
		}
		return fmt.Sprintf("%.0f", n)
	})
}

// luaFloat writes floats by their bits, so that both servers take the same.
func luaFloat() *rapid.Generator[string] {
	return rapid.Map(rapid.OneOf(rapid.Float64(), rapid.Map(rapid.Float32(), func(f float32) float64 { return float64(f) })),
		func(f float64) string {
			mantissa, exponent := math.Frexp(f)
			return fmt.Sprintf("math.ldexp(%.0f, %d)", math.Ldexp(mantissa, 53), exponent-53)
		})
}

func luaString() *rapid.Generator[string] {
	escaped := rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 40), func(b []byte) string {
		var text strings.Builder
		for _, c := range b {
			fmt.Fprintf(&text, "\\%03d", c)
		}
		return "'" + text.String() + "'"
	})
	long := rapid.Map(rapid.SampledFrom([]int{31, 32, 255, 256, 1000}), func(n int) string {
		return fmt.Sprintf("string.rep('\\255', %d)", n)
	})
	return rapid.OneOf(escaped, escaped, escaped, long)
}
