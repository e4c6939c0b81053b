// What verify prints: findings, the codes they can have, and the sum of it all.

package cmd

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/verify"
)

func findingFields(mends bool) render.Fields {
	f := render.Fields{
		Shown:  []string{"code", "severity", "key", "redis_key", "expected", "found"},
		Hidden: []string{"store", "prefix", "snapshot_id", "reference", "namespace", "segment", "chunk", "repair"},
		Whole:  true,
	}
	if mends {
		f.Shown = append(f.Shown, "outcome", "detail")
	} else {
		f.Hidden = append(f.Hidden, "outcome", "detail")
	}
	return f
}

// findingRecord is a finding, and what became of it.
type findingRecord verify.Result

func (v findingRecord) Record(r *render.Record) {
	r.Text("code", string(v.Code))
	r.Text("severity", string(v.Severity))
	r.Text("store", string(v.Store))
	r.Bytes("prefix", v.Prefix)
	r.Bytes("redis_key", v.RedisKey)
	if v.Key != "" {
		r.Bytes("key", v.Key)
	}
	if v.SnapshotID != "" {
		r.Bytes("snapshot_id", v.SnapshotID)
	}
	if v.Reference != "" {
		r.Bytes("reference", v.Reference)
	}
	if v.Segment != nil {
		recordSegment(r, *v.Segment)
	}
	if v.Chunk != nil {
		r.Int("chunk", int64(*v.Chunk))
	}
	r.Text("expected", v.Expected)
	r.Text("found", v.Found)
	orNull(r, "repair", v.Repair)
	r.Text("outcome", string(v.Action))
	orNull(r, "detail", v.Detail)
}

// orNull appends text, null where there is none.
func orNull(r *render.Record, name, text string) {
	if text == "" {
		r.Null(name)
	} else {
		r.Text(name, text)
	}
}

// runVerifyCodes prints the catalogue. It needs no server.
func runVerifyCodes(f *Factory) error {
	out, err := f.offlinePrinter(render.Fields{Shown: []string{"code", "severity", "meaning", "mending", "repair"}, Hidden: []string{"store"}, Whole: true})
	if err != nil {
		return err
	}
	var records []codeRecord
	for _, e := range verify.Catalogue() {
		records = append(records, codeRecord(e))
	}
	return printAll(out, records)
}

// codeRecord is what the catalogue says of a code.
type codeRecord verify.Entry

func (e codeRecord) Record(r *render.Record) {
	r.Text("code", string(e.Code))
	r.Text("store", string(e.Store))
	r.Text("severity", string(e.Severity))
	r.Text("meaning", e.Meaning)
	r.Text("mending", string(e.Mending))
	r.Text("repair", e.Repair)
}

// verifySummary counts what was found and what became of it.
type verifySummary struct {
	checked, found  int64
	mended, failing int64
	failed          error    // the first mend that the server did not let through, or whose outcome is unknown
	left            [3]int64 // by the place in verify.Severities
	shown           time.Time
}

func (s *verifySummary) add(r verify.Result, failOn verify.Severity) {
	s.found++
	if r.Err != nil && (s.failed == nil || errors.Is(r.Err, storeerr.UnknownOutcome) && !errors.Is(s.failed, storeerr.UnknownOutcome)) {
		s.failed = r.Err
	}
	if !r.Open() {
		s.mended++
		return
	}
	for i, severity := range verify.Severities() {
		if r.Severity == severity {
			s.left[i]++
		}
	}
	if r.Severity.AtLeast(failOn) {
		s.failing++
	}
}

// print prints a finding. Nobody should wait more than a second for it while
// the checks go on.
func (s *verifySummary) print(out *render.Printer, r render.Recorder) error {
	err := out.Row(r)
	if err == nil && time.Since(s.shown) > time.Second {
		err = out.Flush()
		s.shown = time.Now()
	}
	return err
}

// String is the sum in a line.
func (s verifySummary) String() string {
	text := fmt.Sprintf("looked at %d things, found nothing", s.checked)
	if s.found > 0 {
		text = fmt.Sprintf("looked at %d things, found %d, mended %d, left %s", s.checked, s.found, s.mended, s.leftText())
	}
	return text
}

// leftText counts what is left: "1 critical, 2 error".
func (s verifySummary) leftText() string {
	var parts []string
	for i, severity := range verify.Severities() {
		if s.left[i] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", s.left[i], severity))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// err is the error of mends that failed, and of damage that is left.
func (s verifySummary) err() error {
	switch {
	case errors.Is(s.failed, storeerr.UnknownOutcome), s.failed != nil && s.mended == 0:
		return fmt.Errorf("not all is mended, left %s: %w", s.leftText(), s.failed)
	case s.failed != nil:
		return storeerr.New(storeerr.Integrity, "not all is mended, left %s: %s", s.leftText(), s.failed)
	case s.failing == 0:
		return nil
	}
	return storeerr.New(storeerr.Integrity, "findings are left: %s", s.leftText()).
		WithHint("`keyspacectl verify --repair --dry-run` says what can be mended, --list-codes what each code means")
}
