package shapes_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/keyspacectl/keyspacectl/pkg/shapes"
)

const rid = "a0f3c951d2e84b67"

func TestDescribeKey(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("e5", 16)
	for _, c := range []struct {
		key   string
		label string
		want  string // the whole shape in a line
	}{
		{"mesh-node\x00eu\x00" + rid, "mesh node descriptor", "mesh node descriptor: mesh eu, rid " + rid},
		{"owner-lease\x00orders", "owner lease", "owner lease: owner orders"},
		{"client-server\x00orders\x00" + rid, "client-server descriptor", "client-server descriptor: channel orders, rid " + rid},
		{"fanout-publisher\x00prices\x00" + rid, "fan-out publisher", "fan-out publisher: channel prices, rid " + rid},
		{"authority\x00actor\x00cart-481", "authority of an actor", "authority of an actor: actor cart-481"},
		{"authority\x00spot\x00münchen", "authority of a spot", "authority of a spot: spot münchen"},
		{"zlink:v11:owner-counter", "counter", "counter: of owner"},
		{"zlink:v11:object-counter", "counter", "counter: of object"},
		{"zlink:v11:authority-owner-counter", "counter", "counter: of authority-owner"},
		{"creation-terminal\x00" + rid + "\x004\x00" + id, "creation terminal", "creation terminal: rid " + rid + ", generation 4, id " + id},
		{"zlink:v11:capacity:e%3Au:" + rid, "capacity", "capacity: mesh e:u, rid " + rid},
		{"zlink:v11:aggregate:cart:4", "aggregate", "aggregate: id cart, generation 4"},
		{"zlink:v11:aggregate-participant:cart:4", "aggregate participant", "aggregate participant: id cart, generation 4"},
		{"zlink:v11:aggregate-inventory:cart:4", "aggregate inventory", "aggregate inventory: id cart, generation 4"},
		{"zlink:v11:spot:münchen-3", "spot claim", "spot claim: spot münchen-3"},
		{"zlink:v11:actor:a:b", "actor claim", "actor claim: actor a:b"},
		{"zlink:v11:route:r", "route claim", "route claim: route r"},
		{"zlink:v11:capacity:100%:" + rid, "capacity", "capacity: mesh 100%, rid " + rid},
		{"zlink:v11:other:x", "key of the older form", "key of the older form"},
		{"zlink:v11:", "key of the older form", "key of the older form"},
		{"zlink:v11:spot:", "key of the older form", "key of the older form"},

		// What misses a part, or has one more, is no such key.
		{"mesh-node\x00eu", "", ""},
		{"mesh-node\x00eu\x00" + strings.ToUpper(rid), "", ""},
		{"mesh-node\x00\x00" + rid, "", ""},
		{"owner-lease\x00a\x00b", "", ""},
		{"owner-lease", "", ""},
		{"authority\x00", "", ""},
		{"authority\x00place\x00x", "", ""},
		{"creation-terminal\x00" + rid + "\x004\x00e5", "", ""},
		{"", "", ""},
		{"a:b", "", ""},
		{"\xff\x00\xfe", "", ""},
	} {
		got := shapes.DescribeKey(c.key)
		if got.Label != c.label || got.String() != c.want {
			t.Errorf("%q: %q, %q; want %q, %q", c.key, got.Label, got, c.label, c.want)
		}
	}
	other := shapes.DescribeKey("a\x00\x00b")
	if want := []shapes.Segment{{Value: "a"}, {}, {Value: "b"}}; fmt.Sprint(other.Segments) != fmt.Sprint(want) {
		t.Errorf("segments %v, want %v", other.Segments, want)
	}
}

func TestDescribeValue(t *testing.T) {
	t.Parallel()
	lease := `{"recordVersion":"1","ownerId":"orders","leaseGeneration":"3"}`
	for _, c := range []struct {
		key, value string
		form       shapes.Form
		label      string
		notes      string // path=text, separated by |
	}{
		{"k", "", shapes.Empty, "", ""},
		{"k", "hello\n", shapes.Text, "", ""},
		{"k", "a\x00b", shapes.Bytes, "", ""},
		{"k", "a\x1bb", shapes.Bytes, "", ""},
		{"k", "\xff", shapes.Bytes, "", ""},
		{"k", "-100", shapes.Integer, "", ""},
		{"k", "248480010225057793111", shapes.Integer, "", ""},
		{"k", "007", shapes.Text, "", ""},
		{"k", "-0", shapes.Text, "", ""},
		{"k", `"a"`, shapes.Text, "", ""},
		{"k", `{"a":1`, shapes.Text, "", ""},
		{"k", `{"a":1} x`, shapes.Text, "", ""},
		{"k", `{"a":01}`, shapes.Text, "", ""},
		{"k", "{\"a\":\"\xff\"}", shapes.Bytes, "", ""},
		{"k", ` [1] `, shapes.JSON, "", ""},
		{"k", `{"a":1,"a":2}`, shapes.JSON, "", ""},

		{"owner-lease\x00orders", lease, shapes.JSON, "owner lease", ""},
		{"owner-lease\x00orders", "x", shapes.Text, "", "=owner lease holds json elsewhere, and this is text"},
		{"zlink:v11:owner-counter", "18", shapes.Integer, "counter", "=the next value to hand out"},
		{"zlink:v11:owner-counter", "9223372036854775807", shapes.Integer, "counter", "=exhausted: there is no next value"},
		{"zlink:v11:owner-counter", "", shapes.Empty, "", "=counter holds integer elsewhere, and this is empty"},
		{"creation-terminal\x00ab\x004\x00" + strings.Repeat("e5", 16), "\x00", shapes.Bytes, "creation terminal", ""},
		{"authority\x00spot\x00m", `{"payload":"AAECAw=="}`, shapes.JSON, "authority of a spot", "/payload=4 bytes"},
		{"authority\x00spot\x00m", `{"payload":"aGk="}`, shapes.JSON, "authority of a spot", "/payload=2 bytes: hi"},
		{"k", `{"payload":"aGk="}`, shapes.JSON, "", ""},
		{"zlink:v11:aggregate:c:4", `{"n":{"$bigint":"12"},"b":{"$bytes":"aGk="}}`, shapes.JSON, "aggregate",
			"/n/$bigint=the integer 12|/b/$bytes=2 bytes: hi"},
		{"k", `{"n":{"$bigint":"x"},"b":{"$bytes":"*"},"c":{"$bigint":5}}`, shapes.JSON, "", ""},

		{"k", `{"expiresAt":"1798761600000","createdAtMs":1798761600001}`, shapes.JSON, "",
			"/expiresAt=2027-01-01T00:00:00.000Z|/createdAtMs=2027-01-01T00:00:00.001Z"},
		{"k", `[{"last_seen":1798761600000},{"a/b":{"deadline":253402300799999}}]`, shapes.JSON, "",
			"/0/last_seen=2027-01-01T00:00:00.000Z|/1/a~1b/deadline=9999-12-31T23:59:59.999Z"},
		{"k", `{"\u0065xpiresAt":1798761600000}`, shapes.JSON, "", "/expiresAt=2027-01-01T00:00:00.000Z"},
		{"k", `{"timeoutMs":1798761600000,"format":1798761600000,"at":5,"expiresAt":1798761600000.5,"until":"soon","since":null}`, shapes.JSON, "", ""},
		{"k", `{"expiresAt":253402300800000,"createdAt":["1798761600000"]}`, shapes.JSON, "", ""},
	} {
		got := shapes.DescribeValue(c.key, c.value)
		var notes []string
		for _, n := range got.Notes {
			notes = append(notes, n.Path+"="+n.Text)
		}
		if got.Form != c.form || got.Label != c.label || strings.Join(notes, "|") != c.notes {
			t.Errorf("%q, %q: %s, %q, %q; want %s, %q, %q", c.key, c.value, got.Form, got.Label, notes, c.form, c.label, c.notes)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ value, want string }{
		{`{"n":15947634569000323,"d":1.10,"ids":[],"o":{}}`, `{
  "n": 15947634569000323,
  "d": 1.10,
  "ids": [],
  "o": {}
}`},
		{`{"z":{"expiresAt":"1798761600000","n":{"$bigint":"12"}},"a":[[1],2]}`, `{
  "z": {
    "expiresAt": "1798761600000",  ← 2027-01-01T00:00:00.000Z
    "n": {"$bigint": "12"}  ← the integer 12
  },
  "a": [
    [1],
    2
  ]
}`},
		{`{"at":1798761600000}`, "{\n  \"at\": 1798761600000  ← 2027-01-01T00:00:00.000Z\n}"},
		{"\t[ 1 ,\n2 ]", "[1, 2]"},
		{`["a\"]b\\",{"k":"}"}]`, "[\n  \"a\\\"]b\\\\\",\n  {\"k\": \"}\"}\n]"},
		{"a\nb", "a\nb"},
		{"\x00", ""},
	} {
		if got := strings.Join(shapes.DescribeValue("k", c.value).Lines(), "\n"); got != c.want {
			t.Errorf("%q is laid out as\n%s\nwant\n%s", c.value, got, c.want)
		}
	}
	counter := shapes.DescribeValue("zlink:v11:owner-counter", "5").Lines()
	if len(counter) != 1 || counter[0] != "5  ← the next value to hand out" {
		t.Errorf("a counter is laid out as %q", counter)
	}
}

// TestLarge holds that what is deep, long or both stays whole and in bounds.
func TestLarge(t *testing.T) {
	t.Parallel()
	const mebibyte = 1 << 20
	for name, value := range map[string]string{
		"deep":          strings.Repeat("[", 1001) + strings.Repeat("]", 1001),
		"long and deep": strings.Repeat("[", 31) + strings.TrimSuffix(strings.Repeat("1,", mebibyte/2-40), ",") + strings.Repeat("]", 31),
		"many moments":  `{"at":[` + strings.TrimSuffix(strings.Repeat(`{"at":1798761600000},`, 40_000), ",") + `]}`,
		"many names":    "{" + strings.TrimSuffix(strings.Repeat(`"":0,`, 200_000), ",") + "}",
	} {
		got := shapes.DescribeValue("k", value)
		if got.Form != shapes.JSON {
			t.Errorf("%s: %s", name, got.Form)
		}
		if len(got.Notes) > 256 {
			t.Errorf("%s: %d notes", name, len(got.Notes))
		}
		if got.Compact() != value {
			t.Errorf("%s: compact is another value", name)
		}
		if laid := strings.Join(got.Lines(), "\n"); len(laid) > 5*mebibyte {
			t.Errorf("%s: laid out in %d bytes", name, len(laid))
		}
	}
	if got := shapes.DescribeValue("k", strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)); got.Form != shapes.Text {
		t.Errorf("20,000 levels are %s", got.Form)
	}
}

// FuzzDescribe holds that any bytes have a shape, and that laying out changes
// no token.
func FuzzDescribe(f *testing.F) {
	f.Add("mesh-node\x00eu\x00ab", `{"expiresAt":"1798761600000","n":[1e9,-0,{}]}`)
	f.Add("zlink:v11:capacity:%zz:%", "9223372036854775807")
	f.Add("authority\x00actor\x00", `{"payload":"aGk=","a":{"$bytes":"aGk="}} `)
	f.Add("\x00\x00", "[[[\"\\\"]\"]]]")
	f.Fuzz(func(t *testing.T, key, value string) {
		_ = shapes.DescribeKey(key).String()
		got := shapes.DescribeValue(key, value)
		lines := got.Lines()
		if got.Form != shapes.JSON {
			return
		}
		if !json.Valid([]byte(value)) || !utf8.ValidString(value) {
			t.Fatalf("%q is taken for JSON", value)
		}
		want := jsontext.Value(value)
		if err := want.Compact(jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(true)); err != nil {
			t.Fatal(err)
		}
		if got.Compact() != string(want) {
			t.Errorf("%q is compacted to %q, want %q", value, got.Compact(), want)
		}
		if len(got.Notes) > 0 {
			return
		}
		laid := jsontext.Value(strings.Join(lines, "\n"))
		if err := laid.Compact(jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(true)); err != nil || string(laid) != string(want) {
			t.Errorf("%q is laid out as %q: %v", value, lines, err)
		}
	})
}
