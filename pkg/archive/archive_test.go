package archive

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// write returns the archive of records.
func write(t testing.TB, h Header, records ...Record) []byte {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out, h)
	for i := range records {
		if err := w.Write(&records[i]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.End(0); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// read returns what an archive holds, and the error that ended it.
func read(archive []byte) (records []Record, end *Trailer, err error) {
	r, err := NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, nil, err
	}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return records, r.Trailer(), nil
		}
		if err != nil {
			return records, nil, err
		}
		records = append(records, record)
	}
}

func samples() []Record {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	return []Record{
		{Kind: Row, Key: "a", Value: []byte("<text> & \"more\" \\ é 日本語\n"), Version: "7"},
		{Kind: Row, Key: "a", Value: []byte{}, Version: "6", ExpiresAt: 5, History: true},
		{Kind: Row, Key: "b\x00c", Value: every, Version: "8", ExpiresAt: math.MaxInt64},
		{Kind: Row, Key: "\xff", Version: "", Tombstone: true},
		{Kind: Row, Key: " big ", Value: bytes.Repeat([]byte{1, 'x'}, 1<<19), Version: "\xfe"},
		{Kind: Blob, Key: "ref:{1}", Value: []byte{}, ExpiresAt: 1 << 50},
		{Kind: Blob, Key: "text", Value: bytes.Repeat([]byte("text "), 1<<18)},
		{Kind: Chunk, Segment: "users", Chunk: 65535, Token: "t", Value: []byte{1, 0xff}},
		{Kind: Chunk, Namespace: "n", Segment: "s", Token: "t", Value: []byte("x")},
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	none, named := "", "n"
	for _, header := range []Header{
		{Prefix: "app", Stores: []string{"opaque", "blob", "warm"}, Moment: 1, Boundary: "12"},
		{Prefix: "\xff", Stores: []string{"warm"}, Options: Options{Namespace: &none, Live: true, Tombstones: true}},
		{Stores: []string{"warm"}, Options: Options{Match: "m\x00\xfe", Namespace: &named, Segment: "s", History: true}},
	} {
		archive := write(t, header, samples()...)
		r, err := NewReader(bytes.NewReader(archive))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(r.Header(), header) {
			t.Errorf("the header is %+v, want %+v", r.Header(), header)
		}
		var got []Record
		for record, err := range r.Records() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, record)
		}
		compare(t, got, samples())
		want := Counts{Rows: 3, Tombstones: 1, History: 1, Blobs: 2, Chunks: 2}
		if end := r.Trailer(); end == nil || end.Counts != want || want.Total() != 9 {
			t.Errorf("the trailer is %+v, want %+v", end, want)
		}
	}
}

func compare(t testing.TB, got, want []Record) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
	for i := range want {
		if !bytes.Equal(got[i].Value, want[i].Value) {
			t.Errorf("record %d: value of %d bytes differs", i, len(want[i].Value))
		}
		got[i].Value, want[i].Value = nil, nil
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("record %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestCompressed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a.ndjson", "a.ndjson.gz", "a.zst"} {
		var out bytes.Buffer
		z, err := Compress(&out, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.Write(write(t, Header{}, samples()...)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		whole := out.Bytes()
		plain := unpacked(t, whole)
		got, _, err := read(plain)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, got, samples())
		if small := len(whole) < len(plain)/2; small == (name == "a.ndjson") {
			t.Errorf("%s has %d bytes of %d", name, len(whole), len(plain))
		}

		cut, err := Decompress(bytes.NewReader(whole[:len(whole)/2]))
		if err == nil {
			var r *Reader
			if r, err = NewReader(cut); err == nil {
				for _, err = range r.Records() {
				}
			}
		}
		if !errors.Is(err, ErrDamaged) || !errors.Is(err, storeerr.Integrity) {
			t.Errorf("%s, cut off, reads as %v", name, err)
		}
	}
}

func unpacked(t *testing.T, packed []byte) []byte {
	t.Helper()
	in, err := Decompress(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	return plain
}

// TestFullSize moves a blob and a row of the largest size.
func TestFullSize(t *testing.T) {
	t.Parallel()
	payload := bytes.Repeat([]byte{0, 0xff, 'x'}, blob.MaxPayloadBytes/3+1)[:blob.MaxPayloadBytes]
	archive := write(t, Header{},
		Record{Kind: Blob, Key: strings.Repeat("\x01", blob.MaxReferenceBytes), Value: payload, ExpiresAt: 1},
		Record{Kind: Row, Key: "k", Value: payload[:1<<20], Version: "1"})
	got, _, err := read(archive)
	if err != nil || len(got) != 2 || !bytes.Equal(got[0].Value, payload) || !bytes.Equal(got[1].Value, payload[:1<<20]) {
		t.Errorf("%d records, %v", len(got), err)
	}
}

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

// TestOtherSpelling holds that what jq and editors make of a line still reads.
func TestOtherSpelling(t *testing.T) {
	t.Parallel()
	line := ` { "kind" : "row" , "value_base64":"AQ==", "key" : "\u006b\"\\" ,"expires_at_ms": 12 , "version":"\ud83d\ude00" } `
	r, err := NewReader(strings.NewReader(string(appendHeader(nil, &Header{})) + line + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	compare(t, []Record{got}, []Record{{Kind: Row, Key: `k"\`, Version: "😀", ExpiresAt: 12, Value: []byte{1}}})
}

func TestAnyRecordsRoundTrip(t *testing.T) {
	t.Parallel()
	octets := rapid.SliceOfN(rapid.Byte(), 0, 300)
	rapid.Check(t, func(t *rapid.T) {
		var records []Record
		for i := range rapid.IntRange(0, 20).Draw(t, "records") {
			r := Record{Value: octets.Draw(t, "value")}
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				r.Kind, r.Key, r.Version = Row, string(octets.Draw(t, "key"))+"k", fmt.Sprint(i)
				r.ExpiresAt = rapid.Int64Min(0).Draw(t, "expiry")
				r.History = rapid.Bool().Draw(t, "history")
			case 1:
				r.Kind, r.Key, r.ExpiresAt = Blob, rapid.StringN(1, 50, -1).Draw(t, "reference"), 1
			case 2:
				r.Kind, r.Segment, r.Chunk, r.Token = Chunk, "s", rapid.Uint16().Draw(t, "chunk"), "t"
			}
			records = append(records, r)
		}
		var out bytes.Buffer
		w := NewWriter(&out, Header{})
		for i := range records {
			if err := w.Write(&records[i]); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.End(0); err != nil {
			t.Fatal(err)
		}
		got, _, err := read(out.Bytes())
		if err != nil || len(got) != len(records) {
			t.Fatalf("%d records of %d, %v", len(got), len(records), err)
		}
		for i := range got {
			if !bytes.Equal(got[i].Value, records[i].Value) || got[i].Key != records[i].Key || got[i].ExpiresAt != records[i].ExpiresAt {
				t.Fatalf("%+v became %+v", records[i], got[i])
			}
		}
	})
}

func FuzzReader(f *testing.F) {
	f.Add(write(f, Header{Prefix: "app"}, samples()[:4]...))
	f.Add(write(f, Header{Stores: []string{"warm"}}, samples()[7:]...))
	f.Add([]byte("{\"kind\":\"header\"}\n"))
	f.Fuzz(func(t *testing.T, archive []byte) {
		records, end, err := read(archive)
		if err == nil && end.Total() != int64(len(records)) {
			t.Errorf("%d records of %+v", len(records), end)
		}
		// Whatever was read is written and read again as it is.
		again, _, err := read(write(t, Header{}, records...))
		if err != nil {
			t.Fatal(err)
		}
		compare(t, again, records)
	})
}

func BenchmarkWriter(b *testing.B) {
	r := Record{Kind: Row, Key: "some/key/of/a/row", Value: bytes.Repeat([]byte("v"), 200), Version: "123456"}
	w := NewWriter(io.Discard, Header{})
	b.SetBytes(int64(len(r.Value)))
	for b.Loop() {
		if err := w.Write(&r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	r := Record{Kind: Row, Key: "some/key/of/a/row", Value: bytes.Repeat([]byte("v"), 200), Version: "123456"}
	records := make([]Record, 1000)
	for i := range records {
		records[i] = r
	}
	archive := write(b, Header{}, records...)
	b.SetBytes(int64(len(archive)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := read(archive); err != nil {
			b.Fatal(err)
		}
	}
}
