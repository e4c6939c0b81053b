package warm_test

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

type goldenDeltas struct {
	Cases []struct {
		Name          string
		AddsCount     uint64   `json:"adds_count"`
		RemovesCount  uint64   `json:"removes_count"`
		AddsHead      []uint32 `json:"adds_head"`
		RemovesHead   []uint32 `json:"removes_head"`
		PayloadLen    int      `json:"payload_len"`
		PayloadBase64 string   `json:"payload_base64"`
	}
	Bad []struct {
		Name       string
		PayloadHex string `json:"payload_hex"`
	}
}

func unbase64(t testing.TB, text string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGoldenDeltas(t *testing.T) {
	t.Parallel()
	var g goldenDeltas
	readJSON(t, "testdata/warm-deltas.json", &g)
	for _, test := range g.Cases {
		payload := unbase64(t, test.PayloadBase64)
		got, err := warm.DecodeDelta(payload)
		if err != nil || len(payload) != test.PayloadLen {
			t.Errorf("%s: %d bytes, %v", test.Name, len(payload), err)
			continue
		}
		if adds, removes := got.Adds.GetCardinality(), got.Removes.GetCardinality(); adds != test.AddsCount || removes != test.RemovesCount {
			t.Errorf("%s: %d adds, %d removes, want %d and %d", test.Name, adds, removes, test.AddsCount, test.RemovesCount)
		}
		if head := got.Adds.ToArray()[:len(test.AddsHead)]; !slices.Equal(head, test.AddsHead) {
			t.Errorf("%s: adds begin with %v, want %v", test.Name, head, test.AddsHead)
		}
		if head := got.Removes.ToArray()[:len(test.RemovesHead)]; !slices.Equal(head, test.RemovesHead) {
			t.Errorf("%s: removes begin with %v, want %v", test.Name, head, test.RemovesHead)
		}
	}
	for _, test := range g.Bad {
		_, err := warm.DecodeDelta([]byte(unhex(t, test.PayloadHex)))
		unsupported := test.Name == "unknown version"
		want := map[bool]storeerr.Kind{true: storeerr.Failed, false: storeerr.Integrity}[unsupported]
		if storeerr.KindOf(err) != want || errors.Is(err, warm.ErrUnsupported) != unsupported {
			t.Errorf("%s: %v, want %s", test.Name, err, want)
		}
	}
}

// delta builds a payload of two halves.
func delta(adds, removes []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{1}, uint32(len(adds)))
	return append(append(b, adds...), removes...)
}

func bitmap(t testing.TB, b *roaring.Bitmap) []byte {
	t.Helper()
	data, err := b.ToBytes()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// runs builds a bitmap of one run container from starts and lengths less one.
func runs(startsAndLengths ...uint16) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 12347)
	b = append(b, 1, 0, 0, 0, 0) // it is a run container, of key 0
	b = binary.LittleEndian.AppendUint16(b, uint16(len(startsAndLengths)/2))
	for _, n := range startsAndLengths {
		b = binary.LittleEndian.AppendUint16(b, n)
	}
	return b
}

// array builds a bitmap of one array container.
func array(values ...uint16) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 12346)
	b = binary.LittleEndian.AppendUint32(b, 1)
	b = binary.LittleEndian.AppendUint16(b, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(values)-1))
	b = binary.LittleEndian.AppendUint32(b, 16)
	for _, v := range values {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	return b
}

func TestDecodeRuns(t *testing.T) {
	t.Parallel()
	var every []uint16 // as many runs as there can be
	for v := 0; v < 1<<16; v += 2 {
		every = append(every, uint16(v), 0)
	}
	for _, test := range []struct {
		name string
		adds []byte
		want uint64
	}{
		{"one run", runs(10, 99), 100},
		{"all values", runs(0, 65535), 65536},
		{"most runs", runs(every...), 32768},
	} {
		got, err := warm.DecodeDelta(delta(test.adds, bitmap(t, roaring.New())))
		if err != nil || got.Adds.GetCardinality() != test.want {
			t.Errorf("%s: %v, want %d adds", test.name, err, test.want)
		}
	}
}

func TestDecodeMalformed(t *testing.T) {
	t.Parallel()
	empty := bitmap(t, roaring.New())
	dense := bitmap(t, roaring.BitmapOf(denseValues()...))
	wrongCount := slices.Clone(dense)
	wrongCount[16] ^= 1 // a bit of the container
	for name, payload := range map[string][]byte{
		"empty":                    {},
		"version only":             {1},
		"no halves":                {1, 0, 0, 0, 0},
		"adds missing":             delta(nil, empty),
		"removes missing":          delta(empty, nil),
		"byte after adds":          delta(append(slices.Clone(empty), 0), empty),
		"byte after removes":       delta(empty, append(slices.Clone(empty), 0)),
		"array cut":                delta(array(1, 2, 3)[:20], empty),
		"array out of order":       delta(array(2, 1), empty),
		"array with a double":      delta(array(1, 1), empty),
		"bitset with wrong count":  delta(wrongCount, empty),
		"bitset cut":               delta(dense[:100], empty),
		"runs past the end":        delta(runs(65535, 1), empty),
		"runs overlapping":         delta(runs(1, 5, 3, 5), empty),
		"runs out of order":        delta(runs(10, 0, 1, 0), empty),
		"runs missing":             delta(runs(1, 5)[:12], empty),
		"value beyond the chunk":   delta(bitmap(t, roaring.BitmapOf(65536)), empty),
		"values in two containers": delta(bitmap(t, roaring.BitmapOf(1, 65536)), empty),
		"overlap":                  delta(runs(0, 65535), array(7)),
		"half too long":            delta(make([]byte, 1<<20+1), empty),
		"half of the longest":      delta(make([]byte, 1<<20), empty),
	} {
		got, err := warm.DecodeDelta(payload)
		if storeerr.KindOf(err) != storeerr.Integrity || errors.Is(err, warm.ErrUnsupported) {
			t.Errorf("%s: %v, %v, want integrity", name, got, err)
		}
	}
}

func TestDecodeSaysWhy(t *testing.T) {
	t.Parallel()
	empty := bitmap(t, roaring.New())
	for _, test := range []struct {
		payload []byte
		want    error
	}{
		{delta(array(7), array(7)), warm.ErrOverlap},
		{delta(make([]byte, 1<<20+1), empty), warm.ErrTooLong},
		{delta(empty, make([]byte, 1<<20+1)), warm.ErrTooLong},
		{[]byte{2}, warm.ErrUnsupported},
	} {
		if _, err := warm.DecodeDelta(test.payload); !errors.Is(err, test.want) {
			t.Errorf("%.8x…: %v, want %v", test.payload, err, test.want)
		}
	}
}

func denseValues() (values []uint32) {
	for v := uint32(0); v < 10000; v++ {
		values = append(values, v*3)
	}
	return values
}

func TestID(t *testing.T) {
	t.Parallel()
	if got := warm.ID(2, 5); got != 2*65536+5 {
		t.Errorf("ID(2, 5) = %d", got)
	}
	if got := warm.ID(65535, 65535); got != 1<<32-1 {
		t.Errorf("the largest id is %d", got)
	}
}

func FuzzDecodeDelta(f *testing.F) {
	var g goldenDeltas
	readJSON(f, "testdata/warm-deltas.json", &g)
	for _, c := range g.Cases {
		f.Add(unbase64(f, c.PayloadBase64))
	}
	for _, c := range g.Bad {
		f.Add([]byte(unhex(f, c.PayloadHex)))
	}
	f.Add(delta(runs(1, 5, 10, 0), array(7, 9)))
	f.Fuzz(func(t *testing.T, payload []byte) {
		got, err := warm.DecodeDelta(payload)
		if err != nil {
			if kind := storeerr.KindOf(err); kind != storeerr.Integrity && !errors.Is(err, warm.ErrUnsupported) {
				t.Errorf("kind %s: %v", kind, err)
			}
			return
		}
		if got.Adds.Intersects(got.Removes) {
			t.Error("adds and removes overlap")
		}
		for _, half := range []*roaring.Bitmap{got.Adds, got.Removes} {
			values := half.ToArray()
			if uint64(len(values)) != half.GetCardinality() || !slices.IsSorted(values) {
				t.Error("the values are out of order")
			}
			if len(values) > 0 && values[len(values)-1] > 65535 {
				t.Error("a value is out of range")
			}
		}
	})
}

func TestIDs(t *testing.T) {
	t.Parallel()
	if got := warm.IDs(2, roaring.BitmapOf(65535, 0, 9)); !slices.Equal(got, []uint32{131072, 131081, 196607}) {
		t.Errorf("the ids are %v", got)
	}
	if got := warm.IDs(2, roaring.New()); len(got) != 0 {
		t.Errorf("an empty bitmap has ids %v", got)
	}
}
