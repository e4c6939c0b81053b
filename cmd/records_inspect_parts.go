// The parts of what inspect finds, as records: versions, entries and places.

package cmd

import (
	"slices"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/inspect"
	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/shapes"
)

// recordVersions appends the versions of a row, and what the newest one looks
// like.
func recordVersions(r *render.Record, i inspect.Report) {
	if i.Versions == nil {
		return
	}
	if newest := i.Versions[0]; newest.Err == nil && !newest.Tombstone {
		recordValueShape(r, newest.Key, newest.Value)
	}
	versions := make([]inspectedVersion, len(i.Versions))
	for at, v := range i.Versions {
		versions[at] = inspectedVersion(v)
	}
	render.List(r, "versions", versions)
	recordMore(r, i.More)
}

// inspectedVersion is a version of a row, as it stands in Redis.
type inspectedVersion inspect.Version

// Columns are those of a report: the state says what live and tombstone do.
func (v inspectedVersion) Columns() []string {
	return []string{"sequence", "version", "state", "why", "untagged", "maybe_base64", "expires_at", "size", "value", "raw"}
}

func (v inspectedVersion) Record(r *render.Record) {
	if v.Sequence != "" {
		r.Text("sequence", v.Sequence)
	}
	if v.Err == nil {
		r.Bytes("version", v.Version)
	}
	r.Text("state", string(v.State))
	r.Text("why", v.Why)
	if v.Untagged {
		r.Bool("untagged", true)
	}
	if v.Ambiguous {
		r.Bool("maybe_base64", true)
	}
	if v.Err != nil {
		r.Size("size", int64(len(v.Raw)))
		r.Value("raw", v.Raw)
		return
	}
	r.Bool("live", v.State == inspect.Live)
	r.Bool("tombstone", v.Tombstone)
	r.Expiry("expires_at", v.ExpiresAt)
	r.Size("size", int64(len(v.Value)))
	r.Value("value", v.Value)
}

// entryRecord is an entry of what holds many.
type entryRecord struct {
	inspect.Entry
	of keyspace.Name
}

func (e entryRecord) Record(r *render.Record) {
	r.Bytes("member", e.Member)
	if e.Score != "" {
		r.Text("score", e.Score)
	}
	if e.Moment != 0 {
		r.Time("at", e.Moment)
	}
	if e.Valued {
		r.Value("value", e.Value)
	}
	switch e.of.Role {
	case keyspace.Index, keyspace.Map, keyspace.Cleanup:
		recordText(r, "shape", shapes.DescribeKey(e.Member).Label)
	}
	if e.Wrong != "" {
		r.Text("wrong", e.Wrong)
	}
}

// holdingRecord is all that a store holds on a key.
type holdingRecord struct{ inspect.Holding }

func (h holdingRecord) name() string { return h.Key }
func (h holdingRecord) found() bool  { return h.Found }
func (h holdingRecord) now() int64   { return h.Row.Now }

func (h holdingRecord) damage() []error { return slices.Concat(h.Disagreements(), h.Row.Damage) }

func (h holdingRecord) Record(r *render.Record) {
	r.Bytes("key", h.Key)
	recordKeyShape(r, h.Key)
	if !h.Found {
		r.Bool("found", false)
		return
	}
	r.Bool("agrees", len(h.Disagreements()) == 0)
	places := make([]placeRecord, len(h.Places))
	for i, p := range h.Places {
		places[i] = placeRecord(p)
	}
	render.List(r, "places", places)
	recordVersions(r, h.Row)
	recordDamage(r, h.damage())
}

// placeRecord is where a store keeps something on a key.
type placeRecord inspect.Place

// Columns are those of a report.
func (p placeRecord) Columns() []string { return []string{"place", "holds", "expected", "redis_key"} }

func (p placeRecord) Record(r *render.Record) {
	r.Text("place", p.Name)
	r.Text("holds", p.Holds)
	if p.Expected != "" {
		r.Text("expected", p.Expected)
	}
	r.Bytes("redis_key", p.RedisKey)
}
