// What inspect finds, as records: what all formats print.

package cmd

import (
	"cmp"
	"errors"
	"slices"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/inspect"
	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// inspectFields are the fields of a report. A terminal shows all that is worth
// a line; columns of tsv are those that fit into one.
func inspectFields(format render.Format, logical bool) render.Fields {
	shown := []string{"redis_key", "store", "role", "layout", "prefix", "key", "type", "items", "size", "memory", "expires_at", "damage"}
	report := []string{
		"redis_key", "found", "store", "role", "layout", "certain", "prefix", "key", "reference", "namespace", "segment", "chunk", "snapshot_id", "shape", "segments",
		"type", "items", "size", "memory", "encoding", "expires_at",
		"counter", "moment", "boundary", "snapshot_prefix", "kind", "crc", "order", "data_length", "total_length", "chunk_count", "crc32c", "sha256", "chunks",
		"token", "payload_size", "adds_count", "removes_count", "adds", "removes", "preview", "decoded", "versions", "entries", "note", "damage",
	}
	if logical {
		shown = []string{"key", "shape", "agrees", "places", "damage"}
		report = []string{"key", "found", "shape", "segments", "agrees", "places", "decoded", "versions", "note", "damage"}
	}
	fields := render.Fields{Shown: shown}
	if format == render.Table {
		fields.Shown = report
	}
	for _, name := range append(report, "key_sha256", "form", "notes", "more") {
		if !slices.Contains(fields.Shown, name) {
			fields.Hidden = append(fields.Hidden, name)
		}
	}
	return fields
}

// reportRecord is what is known of a Redis key.
type reportRecord struct {
	inspect.Report
	limit int
}

func (i reportRecord) name() string    { return i.RedisKey }
func (i reportRecord) found() bool     { return i.Found }
func (i reportRecord) now() int64      { return i.Now }
func (i reportRecord) damage() []error { return i.Damage }

func (i reportRecord) Record(r *render.Record) {
	r.Bytes("redis_key", i.RedisKey)
	if !i.Found {
		r.Bool("found", false)
	}
	i.recordName(r)
	if !i.Found {
		return
	}
	r.Text("type", i.Type)
	if i.Type == "string" {
		r.Size("size", i.Size)
	} else if i.Size >= 0 {
		r.Int("items", i.Size)
	}
	if i.Memory == nil {
		r.Null("memory")
	} else {
		r.Size("memory", *i.Memory)
	}
	recordText(r, "encoding", i.Encoding)
	r.Expiry("expires_at", i.ExpiresAt)
	i.recordContent(r)
	recordDamage(r, i.Damage)
}

// recordName appends what the name of the key says.
func (i reportRecord) recordName(r *render.Record) {
	n := i.Name
	r.Text("store", cmp.Or(string(n.Store), "foreign"))
	if n.Store == keyspace.Foreign {
		return
	}
	r.Text("role", string(n.Role))
	r.Text("layout", string(i.Layout()))
	if !n.Certain {
		r.Bool("certain", false)
	}
	r.Bytes("prefix", n.Prefix)
	if n.SHA256 != "" {
		r.Text("key_sha256", n.SHA256)
	}
	switch n.Store {
	case keyspace.Warm:
		segment := warm.Segment{Name: n.Segment}
		if n.Namespace != nil {
			segment.Namespace = *n.Namespace
		}
		recordSegment(r, segment)
		if n.Role == keyspace.Chunk {
			r.Int("chunk", int64(n.Chunk))
		}
	case keyspace.Blob:
		if n.Key != "" {
			r.Bytes("reference", n.Key)
		}
	default:
		if n.Key != "" {
			r.Bytes("key", n.Key)
			recordKeyShape(r, n.Key)
		}
	}
	if n.SnapshotID != "" {
		r.Bytes("snapshot_id", n.SnapshotID)
	}
}

// recordContent appends what is in the key.
func (i reportRecord) recordContent(r *render.Record) {
	switch {
	case i.Counter != nil:
		r.Text("counter", *i.Counter)
	case i.Snapshot != nil:
		r.Time("moment", i.Snapshot.Moment)
		r.Text("boundary", i.Snapshot.Boundary)
		r.Bytes("snapshot_prefix", i.Snapshot.Prefix)
	case i.Blob != nil:
		frame := i.Blob.Frame
		if frame != nil && frame.Manifest != nil && len(frame.Manifest.Chunks) > i.limit {
			recordMore(r, true)
		}
		recordFrame(r, i.Blob.Kind, frame, errors.Join(i.Damage...), i.limit)
	case i.Chunk != nil:
		i.recordChunk(r)
	case i.Preview != nil:
		recordValueShape(r, "", *i.Preview)
		r.Value("preview", *i.Preview)
		recordMore(r, int64(len(*i.Preview)) < i.Size)
	}
	recordVersions(r, i.Report)
	if i.Entries != nil {
		entries := make([]entryRecord, len(i.Entries))
		for at, e := range i.Entries {
			entries[at] = entryRecord{e, i.Name}
		}
		render.List(r, "entries", entries)
		recordMore(r, i.More)
	}
}

func (i reportRecord) recordChunk(r *render.Record) {
	r.Bytes("token", i.Chunk.Token)
	r.Size("payload_size", i.Chunk.Size)
	if i.Delta == nil {
		return
	}
	adds, removes := warm.IDs(i.Chunk.Number, i.Delta.Adds), warm.IDs(i.Chunk.Number, i.Delta.Removes)
	r.Int("adds_count", int64(len(adds)))
	r.Int("removes_count", int64(len(removes)))
	render.Ints(r, "adds", adds[:min(len(adds), i.limit)])
	render.Ints(r, "removes", removes[:min(len(removes), i.limit)])
	recordMore(r, max(len(adds), len(removes)) > i.limit)
}

// recordMore appends whether there is more than is shown.
func recordMore(r *render.Record, more bool) {
	r.Bool("more", more)
	if more {
		r.Note("note", "there is more: raise --limit")
	}
}

func recordText(r *render.Record, name, text string) {
	if text == "" {
		r.Null(name)
	} else {
		r.Text(name, text)
	}
}

func recordDamage(r *render.Record, damage []error) {
	texts := make([]string, len(damage))
	for i, err := range damage {
		texts[i] = err.Error()
	}
	if len(texts) > 0 {
		render.Texts(r, "damage", texts)
	}
}
