// What the checks of a store share: handing on what they find, each once.

package verify

import (
	"crypto/sha256"
	"errors"
	"strconv"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// How many findings are remembered, so that none is named twice where a server
// shows a key twice, and how many are kept back while a walk goes on.
const (
	maxSeen = 1 << 16
	maxHeld = 1 << 12
)

// report hands findings on to whoever reads them. A reader that mends takes
// entries out of what is being walked through, and not every server's cursors
// bear that: for it findings are held until a walk is over.
type report struct {
	yield   func(Finding, error) bool
	options Options
	checked int64
	held    []Finding
	seen    map[fingerprint]struct{}
}

// fingerprint stands for what a finding is about.
type fingerprint [16]byte

// errStop says that the reader has seen enough.
var errStop = errors.New("stop")

// found hands on those findings that were not before. Its error is errStop.
func (r *report) found(findings ...Finding) error {
	for _, f := range findings {
		if r.known(f) {
			continue
		}
		r.held = append(r.held, f)
		if r.options.hold && len(r.held) < maxHeld {
			continue
		}
		if err := r.walked(); err != nil {
			return err
		}
	}
	return nil
}

// known tells whether a finding was handed on before, as far back as is
// remembered.
func (r *report) known(f Finding) bool {
	mark := f.fingerprint()
	if _, seen := r.seen[mark]; seen {
		return true
	}
	if r.seen == nil {
		r.seen = map[fingerprint]struct{}{}
	}
	if len(r.seen) < maxSeen {
		r.seen[mark] = struct{}{}
	}
	return false
}

// walked hands on what is held: a walk is over. Its error is errStop.
func (r *report) walked() error {
	held := r.held
	r.held = nil
	for _, f := range held {
		if !r.yield(f, nil) {
			return errStop
		}
	}
	return nil
}

// looked counts n more things looked at.
func (r *report) looked(n int) {
	r.checked += int64(n)
	r.options.progress(r.checked)
}

// end hands on what is held and what ended the checks, if it was no reader.
func (r *report) end(err error, doing string) {
	if errors.Is(err, errStop) || r.walked() != nil || err == nil {
		return
	}
	r.yield(Finding{}, storeerr.FromRedis(err, storeerr.Reads, doing))
}

func (f Finding) fingerprint() fingerprint {
	var text []byte
	for _, part := range []string{string(f.Code), f.RedisKey, f.Key, f.SnapshotID, f.Reference, f.Member} {
		text = strconv.AppendQuote(text, part)
	}
	if f.Chunk != nil {
		text = strconv.AppendUint(text, uint64(*f.Chunk), 10)
	}
	sum := sha256.Sum256(text)
	return fingerprint(sum[:])
}
