// The data file of an embedded server, and the lock that keeps two processes
// from using one at the same time.
//
// The file is a line that names the format and its version, 32 bytes of
// SHA-256 over all that follows, and the keys of all databases as a stream of
// gob values, sorted. It is replaced as a whole and never written in place.

package embedded

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// LockWait is how long [Start] waits at most for another process to let go of
// a data file.
const LockWait = 10 * time.Second

// lockPause is the pause between two looks at a lock that is taken.
const lockPause = 10 * time.Millisecond

// The first line of a data file: the format, a space and the version.
const (
	formatName = "keyspacectl-embedded"
	formatLine = formatName + " 1\n"
)

// dataFile is a data file whose lock is held.
type dataFile struct {
	path string
	lock *flock.Flock
}

// openData locks the data file of a path, waiting for whoever holds it. The
// lock is a file of its own beside it, because the data file is replaced at
// each save.
func openData(ctx context.Context, path string) (*dataFile, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if err := checkPlace(path); err != nil {
		return nil, err
	}
	d := &dataFile{path: path, lock: flock.New(path + ".lock")}
	waiting, cancel := context.WithTimeout(ctx, LockWait)
	defer cancel()
	switch _, err := d.lock.TryLockContext(waiting, lockPause); {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, storeerr.New(storeerr.Unavailable, "opening data file %s: another process keeps it", path).
			WithHint("wait for that process, or connect to it if it is a sandbox")
	case err != nil:
		return nil, fmt.Errorf("locking data file %s: %w", path, err)
	}
	return d, nil
}

// checkPlace refuses a path where no data file is or can be.
func checkPlace(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return storeerr.New(storeerr.Invalid, "opening data file %s: it is no regular file", path)
	}
	if dir, err := os.Stat(filepath.Dir(path)); err != nil || !dir.IsDir() {
		return storeerr.New(storeerr.Invalid, "opening data file %s: there is no such directory", path)
	}
	return nil
}

// read returns the checked keys of the file, none when it does not exist.
func (d *dataFile) read() ([]record, error) {
	content, err := os.ReadFile(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading data file: %w", err)
	}
	body, ok := bytes.CutPrefix(content, []byte(formatLine))
	if !ok {
		return nil, d.foreign(content)
	}
	if len(body) < sha256.Size || sha256.Sum256(body[sha256.Size:]) != [sha256.Size]byte(body) {
		return nil, storeerr.New(storeerr.Integrity, "data file %s is damaged: its checksum is wrong", d.path)
	}
	var records []record
	for from := gob.NewDecoder(bytes.NewReader(body[sha256.Size:])); ; {
		var r record
		switch err := from.Decode(&r); {
		case errors.Is(err, io.EOF):
			return records, nil
		case err != nil || !r.sound():
			return nil, storeerr.New(storeerr.Integrity, "data file %s is damaged: key %q cannot be read", d.path, r.Key)
		}
		records = append(records, r)
	}
}

// foreign says what is wrong with a file that does not start as ours do.
func (d *dataFile) foreign(content []byte) error {
	if line, ok := strings.CutPrefix(string(content[:min(len(content), 40)]), formatName+" "); ok {
		version, _, _ := strings.Cut(line, "\n")
		return storeerr.New(storeerr.Integrity, "data file %s has version %q, which this keyspacectl does not know", d.path, version)
	}
	return storeerr.New(storeerr.Integrity, "%s is no data file of keyspacectl", d.path).
		WithHint("name a file that does not exist yet to start with an empty store")
}

// write replaces the file by one that holds what encode writes. Until all of
// it is on the disk, the file stays as it was.
func (d *dataFile) write(encode func(*gob.Encoder) error) (err error) {
	// With the lock held the name is ours: what a killed process left there goes.
	name := d.path + ".tmp"
	_ = os.Remove(name)
	temp, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("saving data file: %w", err)
	}
	defer func() {
		if err != nil {
			_ = temp.Close()
			_ = os.Remove(name)
			err = fmt.Errorf("saving data file %s: %w", d.path, err)
		}
	}()
	var body bytes.Buffer
	if err := encode(gob.NewEncoder(&body)); err != nil {
		return err
	}
	sum := sha256.Sum256(body.Bytes())
	for _, part := range [][]byte{[]byte(formatLine), sum[:], body.Bytes()} {
		if _, err := temp.Write(part); err != nil {
			return err
		}
	}
	if err := errors.Join(temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(name, d.path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(d.path))
}

// syncDir makes the renaming of a file in a directory last. Windows has no
// such thing.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
