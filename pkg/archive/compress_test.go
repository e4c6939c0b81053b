package archive

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

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

// TestSkippableFrames reads what pzstd writes: frames that say how long the
// next one is, and are skipped.
func TestSkippableFrames(t *testing.T) {
	t.Parallel()
	whole := write(t, Header{}, samples()[:4]...)
	for _, magic := range []byte{0x50, 0x5f} {
		var out bytes.Buffer
		for _, part := range [][]byte{whole[:len(whole)/2], whole[len(whole)/2:]} {
			out.Write([]byte{magic, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 'l', 'o', 'n', 'g'})
			z, err := Compress(&out, "a.zst")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := z.Write(part); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if got := unpacked(t, out.Bytes()); !bytes.Equal(got, whole) {
			t.Errorf("%d bytes, want %d", len(got), len(whole))
		}
		if _, err := Decompress(bytes.NewReader(out.Bytes()[:3])); err != nil {
			t.Errorf("three bytes: %v", err)
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
