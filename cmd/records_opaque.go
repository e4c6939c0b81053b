// The results of the versioned store as records: what all formats print.

package cmd

import (
	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

func rowFields() render.Fields {
	return render.Fields{Shown: []string{"key", "value", "version", "size", "expires_at"}, Hidden: []string{"found", "damaged"}, Raw: "value"}
}

// rowRecord is a live row.
type rowRecord opaque.Row

func (row rowRecord) Record(r *render.Record) {
	r.Bytes("key", row.Key)
	r.Value("value", row.Value)
	r.Bytes("version", row.Version)
	r.Size("size", int64(len(row.Value)))
	r.Expiry("expires_at", row.ExpiresAt)
}

// decodedFields are those of rows that are shown decoded; their bytes stay in
// the field value.
func decodedFields() render.Fields {
	return render.Fields{
		Shown:  []string{"key", "shape", "decoded", "version", "size", "expires_at"},
		Hidden: []string{"segments", "form", "notes", "value", "found", "damaged"},
	}
}

// decodedRecord is a live row, and what it looks like.
type decodedRecord opaque.Row

func (row decodedRecord) Record(r *render.Record) {
	r.Bytes("key", row.Key)
	recordKeyShape(r, row.Key)
	recordValueShape(r, row.Key, row.Value)
	r.Value("value", row.Value)
	r.Bytes("version", row.Version)
	r.Size("size", int64(len(row.Value)))
	r.Expiry("expires_at", row.ExpiresAt)
}

// rowRecorder returns the record of a live row.
func rowRecorder(row opaque.Row, decode bool) render.Recorder {
	if decode {
		return decodedRecord(row)
	}
	return rowRecord(row)
}

// missingRecord stands in the place of a key that has no live row.
type missingRecord struct{ key string }

func (m missingRecord) Record(r *render.Record) {
	r.Bytes("key", m.key)
	r.Bool("found", false)
	r.Note("value", "(not found)")
	r.Note("decoded", "(not found)")
}

// damagedRecord stands in the place of a key whose row is damaged.
type damagedRecord struct{ key string }

func (d damagedRecord) Record(r *render.Record) {
	r.Bytes("key", d.key)
	r.Bool("damaged", true)
	r.Note("value", "(damaged)")
	r.Note("decoded", "(damaged)")
}

func keyFields() render.Fields { return render.Fields{Shown: []string{"key"}} }

// keyRecord is the key of a row alone.
type keyRecord string

func (k keyRecord) Record(r *render.Record) { r.Bytes("key", string(k)) }

func countFields() render.Fields { return render.Fields{Shown: []string{"count"}} }

// countRecord is how many rows there are.
type countRecord int64

func (c countRecord) Record(r *render.Record) { r.Int("count", int64(c)) }

func writtenFields() render.Fields {
	return render.Fields{Shown: []string{"key", "outcome", "version", "expires_at"}, Hidden: []string{"dry_run", "store_now"}}
}

// writtenRecord is what became of one mutation.
type writtenRecord struct {
	opaque.Written
	now    int64
	dryRun bool
}

func (w writtenRecord) Record(r *render.Record) {
	r.Bytes("key", w.Key)
	r.Text("outcome", string(w.Outcome))
	if w.Outcome == opaque.OutcomePut {
		if w.dryRun {
			r.Null("version")
		} else {
			r.Bytes("version", w.Version)
		}
		r.Expiry("expires_at", w.ExpiresAt)
	}
	if w.dryRun {
		r.Bool("dry_run", true)
	}
	r.Time("store_now", w.now)
}

func writtenRecords(a *opaque.Applied, dryRun bool) []writtenRecord {
	records := make([]writtenRecord, len(a.Written))
	for i, w := range a.Written {
		records[i] = writtenRecord{w, a.Now, dryRun}
	}
	return records
}
