// The results of the warm store as records: what all formats print.

package cmd

import (
	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// chunkFields are those of one chunk.
func chunkFields(decode bool) render.Fields {
	if decode {
		return render.Fields{
			Shown:  []string{"chunk", "token", "size", "adds_count", "removes_count", "adds", "removes"},
			Hidden: []string{"namespace", "segment", "value"},
		}
	}
	return render.Fields{Shown: []string{"chunk", "token", "size", "value"}, Hidden: []string{"namespace", "segment"}, Raw: "value"}
}

// chunkListFields are those of a list of chunks.
func chunkListFields(payload, decode bool) render.Fields {
	fields := render.Fields{Shown: []string{"chunk", "token", "size"}, Hidden: []string{"namespace", "segment"}}
	if decode {
		fields.Shown = append(fields.Shown, "adds_count", "removes_count")
		fields.Hidden = append(fields.Hidden, "adds", "removes")
	}
	if payload {
		fields.Shown = append(fields.Shown, "value")
	}
	return fields
}

// chunkRecord is a chunk, with its payload where it was asked for.
type chunkRecord struct {
	warm.Chunk
	payload bool
	delta   *warm.Delta // nil when it was not asked for
}

func (c chunkRecord) Record(r *render.Record) {
	recordChunk(r, c.Segment, c.Number)
	r.Bytes("token", c.Token)
	r.Size("size", c.Size)
	if c.payload {
		r.Value("value", string(c.Payload))
	}
	if c.delta != nil {
		r.Uint("adds_count", c.delta.Adds.GetCardinality())
		r.Uint("removes_count", c.delta.Removes.GetCardinality())
		render.Ints(r, "adds", warm.IDs(c.Number, c.delta.Adds))
		render.Ints(r, "removes", warm.IDs(c.Number, c.delta.Removes))
	}
}

// decodeChunk decodes a payload. One that is no delta, or one of a version
// that is not known, is storeerr.Integrity.
func decodeChunk(c warm.Chunk) (*warm.Delta, error) {
	delta, err := warm.DecodeDelta(c.Payload)
	if err != nil {
		return nil, storeerr.New(storeerr.Integrity, "chunk %d of segment %q: %w", c.Number, c.Segment, err)
	}
	return &delta, nil
}

func recordSegment(r *render.Record, segment warm.Segment) {
	if segment.Namespace == "" {
		r.Null("namespace")
	} else {
		r.Text("namespace", segment.Namespace)
	}
	r.Text("segment", segment.Name)
}

func recordChunk(r *render.Record, segment warm.Segment, chunk uint16) {
	recordSegment(r, segment)
	r.Int("chunk", int64(chunk))
}

func chunkWrittenFields() render.Fields {
	return render.Fields{
		Shown:  []string{"segment", "chunk", "outcome", "token", "size"},
		Hidden: []string{"namespace", "dry_run", "store_now"},
	}
}

// chunkWrittenRecord is what became of a chunk.
type chunkWrittenRecord struct {
	warm.Result
	chunkAddress
	size   *int64 // nil after a delete
	dryRun bool
}

func (c chunkWrittenRecord) Record(r *render.Record) {
	recordChunk(r, c.segment, c.chunk)
	if c.size != nil {
		if c.dryRun {
			r.Null("token")
		} else {
			r.Text("token", c.Token)
		}
		r.Size("size", *c.size)
	}
	recordOutcome(r, string(c.Outcome), c.Now, c.dryRun)
}

// segmentRecord is a segment, and how many chunks its index names.
type segmentRecord warm.SegmentInfo

func (s segmentRecord) Record(r *render.Record) {
	recordSegment(r, s.Segment)
	r.Int("chunks", s.Chunks)
}
