package blobdir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func TestFileName(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]string{
		"chunk-1_a.b": "chunk-1_a.b.blob",
		"a/b":         "a%2fb.blob",
		"..":          "%2e..blob",
		"../../x":     "%2e.%2f..%2fx.blob",
		"/etc/passwd": "%2fetc%2fpasswd.blob",
		"a\x00b":      "a%00b.blob",
		"A":           "%41.blob",
		"a":           "a.blob",
		"ü":           "%c3%bc.blob",
		"%41":         "%2541.blob",
		"@":           "%40.blob",
		"nul.txt":     "%6eul.txt.blob",
		"com1":        "%63om1.blob",
		"comx":        "comx.blob",
		`a\b:c`:       "a%5cb%3ac.blob",
	} {
		if got := FileName(ref); got != want {
			t.Errorf("%q is kept in %q, want %q", ref, got, want)
		}
	}
	if got := FileName(strings.Repeat("a", 250)); len(got) != 255 || isDigest(got) {
		t.Errorf("the longest name is %q", got)
	}
	if got := FileName(strings.Repeat("a", 251)); len(got) != 1+64+5 || !isDigest(got) {
		t.Errorf("the name of a long reference is %q", got)
	}
}

func TestReferenceRefuses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", ".blob", "A.blob", "%4.blob", "%4", "%.blob", "%zz.blob", "%61.blob", "%2F.blob", "a/b.blob", "%ff.blob", "@00.blob", "nul.blob"} {
		if got, err := reference(name, nil); err == nil {
			t.Errorf("%q is read as %q", name, got)
		}
	}
}

func FuzzFileName(f *testing.F) {
	for _, ref := range []string{"a", "../x", "A%41", "ü\x00", strings.Repeat("ä", 2048), "nul", ".", "@"} {
		f.Add(ref)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		if ref == "" || len(ref) > blob.MaxReferenceBytes || !utf8.ValidString(ref) {
			return
		}
		name := FileName(ref)
		if len(name) > 255 || name != filepath.Base(name) || name != strings.ToLower(name) || strings.HasPrefix(name, ".") {
			t.Errorf("%q is kept in %q", ref, name)
		}
		got, err := reference(name, map[string]string{name: ref})
		if err != nil || got != ref {
			t.Errorf("%q is kept in %q, and read as %q, %v", ref, name, got, err)
		}
	})
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "dir")
	w, err := NewWriter(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory is there before the first blob")
	}
	want := map[string]string{"a": "1", "A": "2", "../x": "", strings.Repeat("ä", 2048): "3", strings.Repeat("z", 300): "4"}
	for ref, payload := range want {
		if _, err := w.Write(ref, []byte(payload)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".hidden"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := List(dir)
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		got, err := os.ReadFile(file.Path)
		if err != nil || string(got) != want[file.Reference] || file.Size != int64(len(got)) {
			t.Errorf("%.20q: %q, %v", file.Reference, got, err)
		}
	}

	// What is there is not overwritten, unless that is asked for.
	if _, err := NewWriter(dir, false); !errors.Is(err, storeerr.Invalid) {
		t.Errorf("a directory that is not empty: %v", err)
	}
	late := Writer{dir: dir}
	if _, err := late.Write("a", []byte("other")); !errors.Is(err, storeerr.Invalid) {
		t.Errorf("a file that exists: %v", err)
	}
	w, err = NewWriter(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{"a", strings.Repeat("z", 300)} {
		if _, err := w.Write(ref, []byte("other")); err != nil {
			t.Error(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if files, err = List(dir); err != nil || len(files) != len(want) {
		t.Errorf("%d files, %v", len(files), err)
	}
}

func TestListRefuses(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(dir string) error{
		"a directory":  func(dir string) error { return os.Mkdir(filepath.Join(dir, "x.blob"), 0o700) },
		"a link":       func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "x.blob")) },
		"another name": func(dir string) error { return os.WriteFile(filepath.Join(dir, "x.txt"), nil, 0o600) },
		"an unknown digest": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, FileName(strings.Repeat("a", 300))), nil, 0o600)
		},
		"a wrong index": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, IndexName), []byte(`{"file":"x","reference":"a"}`), 0o600)
		},
		"a broken index": func(dir string) error { return os.WriteFile(filepath.Join(dir, IndexName), []byte(`{`), 0o600) },
		"too large": func(dir string) error {
			file, err := os.Create(filepath.Join(dir, "x.blob"))
			if err != nil {
				return err
			}
			return errors.Join(file.Truncate(blob.MaxPayloadBytes+1), file.Close())
		},
		"no directory": os.Remove,
	} {
		dir := t.TempDir()
		if err := make(dir); err != nil {
			t.Fatal(err)
		}
		if files, err := List(dir); !errors.Is(err, storeerr.Invalid) {
			t.Errorf("%s: %v, %v", name, files, err)
		}
	}
}
