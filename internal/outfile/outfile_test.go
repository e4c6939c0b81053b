package outfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/outfile"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

// wantFiles asserts what a directory holds: names and contents in turn.
func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	var got []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, entry.Name(), string(text))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the directory holds %q, want %q", got, want)
	}
}

func newFile(t *testing.T, path string, overwrite bool) *outfile.File {
	t.Helper()
	f, err := outfile.New(path, overwrite)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustWrite(t *testing.T, f *outfile.File, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if _, err := io.WriteString(f, part); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCommit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, parts := range map[string][]string{"a": {"one", "two"}, "empty": {""}, "nothing": nil} {
		f := newFile(t, filepath.Join(dir, name), false)
		mustWrite(t, f, parts...)
		if err := f.Commit(); err != nil {
			t.Error(err)
		}
		f.Discard() // changes nothing any more
		if _, err := f.Write([]byte("late")); !errors.Is(err, os.ErrClosed) {
			t.Errorf("a late write: %v, want closed", err)
		}
	}
	wantFiles(t, dir, "a", "onetwo", "empty", "", "nothing", "")
}

func TestDiscard(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	newFile(t, path, false).Discard()
	f := newFile(t, path, false)
	mustWrite(t, f, "one")
	f.Discard()
	f.Discard()
	wantFiles(t, dir)

	write(t, path, "old")
	f = newFile(t, path, true)
	mustWrite(t, f, "new")
	wantedBefore, err := os.ReadFile(path)
	if err != nil || string(wantedBefore) != "old" {
		t.Errorf("before the commit the file is %q, %v", wantedBefore, err)
	}
	f.Discard()
	wantFiles(t, dir, "a", "old")
}

func TestOverwrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	write(t, path, "old")
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	f := newFile(t, filepath.Join(dir, "link"), true)
	mustWrite(t, f, "new")
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, dir, "a", "new", "link", "new")
	if info, err := os.Lstat(filepath.Join(dir, "link")); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link is %v, %v now", info, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v, want that of the old file", info, err)
	}
}

// A file that appears while another is written is not lost.
func TestAppearsMeanwhile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := newFile(t, filepath.Join(dir, "a"), false)
	mustWrite(t, f, "ours")
	write(t, filepath.Join(dir, "a"), "theirs")
	if err := f.Commit(); !errors.Is(err, storeerr.Invalid) {
		t.Errorf("%v, want invalid", err)
	}
	wantFiles(t, dir, "a", "theirs")
}

func TestRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	write(t, path, "old")
	for _, target := range []struct {
		path      string
		overwrite bool
	}{
		{"", true}, {dir, true}, {path, false}, {filepath.Join(dir, "none", "a"), true}, {filepath.Join(path, "a"), true},
	} {
		if _, err := outfile.New(target.path, target.overwrite); !errors.Is(err, storeerr.Invalid) {
			t.Errorf("%q: %v, want invalid", target.path, err)
		}
	}
	wantFiles(t, dir, "a", "old")
}

func TestDevices(t *testing.T) {
	t.Parallel()
	f := newFile(t, os.DevNull, false)
	mustWrite(t, f, "gone")
	if err := f.Commit(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatalf("%s is %v, %v now", os.DevNull, info, err)
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		return
	}
	_, err := newFile(t, "/dev/full", false).Write([]byte("x"))
	if !errors.Is(err, syscall.ENOSPC) || err.Error() != "writing /dev/full: no space left on device" {
		t.Errorf("writing to a full device: %v", err)
	}
}

func TestNil(t *testing.T) {
	t.Parallel()
	var f *outfile.File
	if err := f.Commit(); err != nil {
		t.Error(err)
	}
	f.Discard()
}
