package archive

// Archives that are cut off or altered, and lines that are none.

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func TestDamage(t *testing.T) {
	t.Parallel()
	whole := write(t, Header{Prefix: "app"}, samples()[:4]...)
	text := string(whole)
	altered := []string{"a line left out", "a value altered", "the header altered", "another sum", "other counts"}
	for name, archive := range map[string]string{
		"cut in the header":     text[:10],
		"cut in a line":         text[:len(text)/2],
		"cut behind a line":     text[:strings.LastIndex(text, `{"kind":"trailer"`)],
		"cut by its last byte":  text[:len(text)-1],
		"a line left out":       text[:strings.Index(text, `{"kind":"row"`)] + text[strings.LastIndex(text, `{"kind":"row"`):],
		"a value altered":       strings.Replace(text, "more", "less", 1),
		"the header altered":    strings.Replace(text, `"app"`, `"ape"`, 1),
		"more behind the end":   text + "{}\n",
		"another sum":           strings.Replace(text, `"sha256":"`, `"sha256":"0`, 1),
		"other counts":          strings.Replace(text, `"rows":2`, `"rows":3`, 1),
		"a trailer of nonsense": strings.Replace(text, `"rows":2`, `"rows":"2"`, 1),
		"a line without end":    text[:strings.Index(text, `{"kind":"row"`)] + strings.Repeat("x", MaxLineBytes+1),
	} {
		_, end, err := read([]byte(archive))
		if !errors.Is(err, ErrDamaged) || !errors.Is(err, storeerr.Integrity) || end != nil {
			t.Errorf("%s reads as %v", name, err)
		}
		if is := errors.Is(err, ErrAltered); is != slices.Contains(altered, name) {
			t.Errorf("%s is altered: %v: %v", name, is, err)
		}
	}
}

// TestDoubts holds that what a trailer says against its archive is told, also
// where a bad line is passed over.
func TestDoubts(t *testing.T) {
	t.Parallel()
	whole := string(write(t, Header{Prefix: "app"}, samples()[:4]...))
	second := whole[strings.Index(whole, `{"kind":"row"`):]
	second = second[:strings.Index(second, "\n")+1]
	bad := strings.Replace(whole, `"value"`, `"valeu"`, 1)
	const altered = "the archive is not as it was written: beside its bad lines, others may have been altered too"
	for name, c := range map[string]struct {
		archive string
		want    []string
	}{
		"whole":              {whole, nil},
		"lacking":            {strings.Replace(whole, `"damaged":0`, `"damaged":2`, 1), []string{"the archive lacks records that were damaged when it was made: 2"}},
		"bad":                {bad, []string{altered}},
		"bad, and lost":      {strings.Replace(strings.Replace(whole, second, "", 1), `"value"`, `"valeu"`, 1), []string{altered, "the archive has 3 lines between its header and its trailer, which counts 4 records"}},
		"bad, and more":      {bad[:strings.Index(bad, `{"kind":"row"`)] + "\n" + bad[strings.Index(bad, `{"kind":"row"`):], []string{altered, "the archive has 5 lines between its header and its trailer, which counts 4 records"}},
		"bad from the start": {withSum(bad), nil},
		"cut":                {bad[:len(bad)-1], nil},
	} {
		r, err := NewReader(strings.NewReader(c.archive))
		if err != nil {
			t.Fatal(err)
		}
		for range r.Records() {
		}
		var got []string
		for _, doubt := range r.Doubts() {
			got = append(got, doubt.Error())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// withSum gives an archive the sum of its lines.
func withSum(archive string) string {
	at := strings.LastIndex(archive, `{"kind":"trailer"`)
	sum := sha256.Sum256([]byte(archive[:at]))
	return archive[:strings.LastIndex(archive, `"sha256":"`)] + fmt.Sprintf("\"sha256\":\"%x\"}\n", sum)
}

func TestNoArchive(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"{}\n", "text\n", `{"kind":"row"}` + "\n",
		`{"kind":"header","format":"other","version":1,"prefix":"","stores":[],"moment_ms":0,"boundary":null}` + "\n",
		`{"kind":"header","format":"keyspacectl-archive","version":2,"prefix":"","stores":[],"moment_ms":0,"boundary":null}` + "\n",
		`{"kind":"header","format":"keyspacectl-archive","version":1,"surprise":1}` + "\n",
		`{"kind":"header","format":"keyspacectl-archive","version":1,"prefix":"","prefix":"a"}` + "\n",
	} {
		if _, err := NewReader(strings.NewReader(text)); !errors.Is(err, storeerr.Integrity) || !strings.Contains(err.Error(), "line 1: ") {
			t.Errorf("%q reads as %v", text, err)
		}
	}
}

func TestBadLines(t *testing.T) {
	t.Parallel()
	good := `{"kind":"row","key":"k","version":"1","expires_at_ms":null,"value":"v"}`
	for _, c := range []struct{ line, want string }{
		{"", "no JSON object"},
		{"null", "no JSON object"},
		{`{"key":"k"}`, "begin with its kind"},
		{`{"kind":"key"}`, `not a "key"`},
		{good + "x", "no JSON object"},
		{good[:len(good)-1], "no JSON object"},
		{strings.Replace(good, `"v"`, `"v",`, 1), "no JSON object"},
		{strings.Replace(good, `"v"`, `{"a":1}`, 1), "no string"},
		{strings.Replace(good, `"v"`, `7`, 1), "no string"},
		{strings.Replace(good, `"v"`, `"\x"`, 1), "no string"},
		{strings.Replace(good, `"v"`, "\"\xff\"", 1), "no string"},
		{strings.Replace(good, `"v"`, "\"\x01\"", 1), "no string"},
		{strings.Replace(good, `"value"`, `"vaule"`, 1), `no field "vaule"`},
		{strings.Replace(good, `"value"`, `"token"`, 1), `no field "token"`},
		{strings.Replace(good, `"value"`, `"key"`, 1), `"key" stands twice`},
		{strings.Replace(good, `"value"`, `"key_base64"`, 1), `"key_base64" stands twice`},
		{strings.Replace(good, `"value":"v"`, `"value_base64":"dg"`, 1), "no base64"},
		{strings.Replace(good, `"value":"v"`, `"value_base64":"dh=="`, 1), "no base64"},
		{strings.Replace(good, `"value":"v"`, `"value_base64":"dg==dg=="`, 1), "no base64"},
		{strings.Replace(good, `"value":"v"`, `"value_base64":"`+strings.Repeat("A", 4094)+`==AAAA"`, 1), "no base64"},
		{strings.Replace(good, `,"value":"v"`, ``, 1), "missing"},
		{strings.Replace(good, `"value":"v"`, `"value":"v","tombstone":true`, 1), "one too many"},
		{strings.Replace(good, `"value":"v"`, `"tombstone":false`, 1), "only be true"},
		{strings.Replace(good, `null`, `0`, 1), "no number"},
		{strings.Replace(good, `null`, `01`, 1), "no number"},
		{strings.Replace(good, `null`, `1e3`, 1), "no number"},
		{strings.Replace(good, `null`, `9223372036854775808`, 1), "no number"},
		{strings.Replace(good, `"k"`, `""`, 1), "the key has 0 bytes"},
		{strings.Replace(good, `"k"`, `"`+strings.Repeat("k", 1025)+`"`, 1), "the key has 1025 bytes"},
		{strings.Replace(good, `"1"`, `""`, 1), "the version has 0 bytes"},
		{strings.Replace(good, `"v"`, `"`+strings.Repeat("v", 1<<20+1)+`"`, 1), "the value has 1048577 bytes"},
		{`{"kind":"blob","reference_base64":"/w==","expires_at_ms":1,"value":""}`, "no UTF-8"},
		{`{"kind":"blob","reference":"","expires_at_ms":1,"value":""}`, "the reference has 0 bytes"},
		{`{"kind":"chunk","namespace":null,"segment":"s","chunk":65536,"token":"t","value":""}`, "no number"},
		{`{"kind":"chunk","namespace":null,"segment":"..","chunk":1,"token":"t","value":""}`, "no valid name"},
		{`{"kind":"chunk","namespace":null,"segment":"s","chunk":1,"token":"","value":""}`, "the token has 0 bytes"},
	} {
		r, err := NewReader(strings.NewReader(string(appendHeader(nil, &Header{})) + c.line + "\n" + good + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Read()
		bad, ok := errors.AsType[*BadLine](err)
		if !ok || bad.Line != 2 || !errors.Is(err, storeerr.Integrity) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.100q reads as %v, want %q", c.line, err, c.want)
			continue
		}
		if next, err := r.Read(); err != nil || next.Key != "k" || r.Line() != 3 {
			t.Errorf("behind %.100q comes %+v, %v", c.line, next, err)
		}
	}
}
