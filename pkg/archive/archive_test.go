package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
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
