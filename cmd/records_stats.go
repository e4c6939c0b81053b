// The results of stats as records: what all formats print.

package cmd

import (
	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/stats"
)

func statsFields() render.Fields {
	return render.Fields{Shown: []string{"prefix", "opaque", "blob", "warm"}, Hidden: []string{"under"}}
}

// statsRecord is what a look through the stores found.
type statsRecord struct {
	*stats.Report
	prefix string
	under  string // the prefix of the keys and references that were counted
}

func (s statsRecord) Record(r *render.Record) {
	r.Text("prefix", s.prefix)
	r.Bytes("under", s.under)
	if s.Opaque == nil {
		r.Null("opaque")
	} else {
		rows := opaqueStatsRecord{s.Opaque}
		r.Drawn("opaque", rows, rows.charts())
	}
	if s.Blob == nil {
		r.Null("blob")
	} else {
		blobs := blobStatsRecord{s.Blob}
		r.Drawn("blob", blobs, blobs.charts())
	}
	if s.Warm == nil {
		r.Null("warm")
	} else {
		chunks := warmStatsRecord{s.Warm}
		r.Drawn("warm", chunks, chunks.charts())
	}
}

// object is a part of a result that has no type of its own.
type object func(*render.Record)

func (o object) Record(r *render.Record) { o(r) }

type opaqueStatsRecord struct{ *stats.Opaque }

func (s opaqueStatsRecord) Record(r *render.Record) {
	r.Time("store_now", s.Now)
	r.Object("rows", object(func(r *render.Record) {
		r.Int("live", s.Rows.Live)
		r.Int("expired", s.Rows.Expired)
		r.Int("tombstoned", s.Rows.Tombstoned)
		r.Int("damaged", s.Rows.Damaged)
		r.Int("missing", s.Rows.Missing)
		r.Size("key_bytes", s.KeyBytes)
	}))
	r.Object("values", distributionRecord(s.Values))
	render.List(r, "largest", keyedRecords(s.Largest, "key", "size"))
	r.Object("versions", distributionRecord(s.Versions))
	r.Int("near_backlog", s.Near)
	render.List(r, "fullest", keyedRecords(s.Fullest, "key", "versions"))
	r.Object("expiries", expiriesRecord(s.Expiries))
	r.Object("writes", object(func(r *render.Record) {
		r.Text("counter", s.Counter)
		r.Int("batches", s.Writes.Batches)
		r.Int("interval_ms", s.Writes.Interval)
		if rate, known := s.Writes.PerSecond(); known {
			r.Float("per_second", rate)
		} else {
			r.Null("per_second")
		}
	}))
	r.Object("cleanup", object(func(r *render.Record) {
		r.Int("entries", s.Cleanup)
		r.Int("due", s.Due)
		r.Time("oldest_due_at", s.OldestDue)
		if s.Due > 0 {
			r.Int("oldest_due_ms", s.Now-s.OldestDue)
		} else {
			r.Null("oldest_due_ms")
		}
	}))
	r.Object("snapshots", object(func(r *render.Record) {
		r.Int("open", s.Snapshots.Open)
		r.Int("ended", s.Snapshots.Ended)
		if s.Snapshots.Oldest == nil {
			r.Null("oldest")
		} else {
			r.Object("oldest", snapshotStateRecord(*s.Snapshots.Oldest))
		}
	}))
}

type blobStatsRecord struct{ *stats.Blob }

func (s blobStatsRecord) Record(r *render.Record) {
	r.Int("blobs", s.Sizes.Count)
	r.Int("damaged", s.Damaged)
	r.Object("sizes", distributionRecord(s.Sizes))
	render.List(r, "largest", keyedRecords(s.Largest, "reference", "size"))
	r.Object("expiries", expiriesRecord(s.Expiries))
}

type warmStatsRecord struct{ *stats.Warm }

func (s warmStatsRecord) Record(r *render.Record) {
	r.Int("segments", s.Segments)
	r.Int("chunks", s.Payloads.Count)
	r.Int("damaged", s.Damaged)
	r.Uint("ids_added", s.Added)
	r.Uint("ids_removed", s.Removed)
	r.Int("not_decoded", s.Other)
	r.Object("payloads", distributionRecord(s.Payloads))
	largest := make([]object, len(s.Largest))
	for i, c := range s.Largest {
		largest[i] = func(r *render.Record) {
			recordChunk(r, c.Name.Segment, c.Name.Number)
			r.Size("size", c.Size)
		}
	}
	render.List(r, "largest", largest)
}

type distributionRecord stats.Distribution

func (d distributionRecord) Record(r *render.Record) {
	r.Int("count", d.Count)
	r.Int("sum", d.Sum)
	r.Int("p50", d.P50)
	r.Int("p99", d.P99)
	r.Int("max", d.Max)
	recordBuckets(r, d.Histogram, "up_to")
}

type expiriesRecord stats.Expiries

func (e expiriesRecord) Record(r *render.Record) {
	r.Int("never", e.Never)
	recordBuckets(r, e.Histogram, "within_ms")
}

// recordBuckets appends a histogram; the bound of its last bucket is null.
func recordBuckets(r *render.Record, h stats.Histogram, bound string) {
	list := make([]object, len(h.Counts))
	for i, n := range h.Counts {
		list[i] = func(r *render.Record) {
			if i < len(h.Bounds) {
				r.Int(bound, h.Bounds[i])
			} else {
				r.Null(bound)
			}
			r.Int("count", n)
		}
	}
	render.List(r, "buckets", list)
}

// keyedRecords are the largest by a key, under the names of both.
func keyedRecords(list []stats.Sized[string], key, number string) []object {
	records := make([]object, len(list))
	for i, s := range list {
		records[i] = func(r *render.Record) {
			r.Bytes(key, s.Name)
			r.Int(number, s.Size)
		}
	}
	return records
}
