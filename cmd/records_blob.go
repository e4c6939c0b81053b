// The results of the blob store as records: what all formats print.

package cmd

import (
	"errors"
	"fmt"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
)

func blobFields() render.Fields {
	return render.Fields{Shown: []string{"reference", "value", "size", "expires_at"}, Raw: "value"}
}

func blobInfoFields() render.Fields {
	return render.Fields{Shown: []string{"reference", "size", "expires_at"}}
}

// blobRecord is a blob with its payload.
type blobRecord blob.Blob

func (b blobRecord) Record(r *render.Record) {
	r.Bytes("reference", b.Reference)
	r.Value("value", string(b.Payload))
	r.Size("size", b.Size)
	r.Expiry("expires_at", b.ExpiresAt)
}

// blobInfoRecord is a blob without its payload.
type blobInfoRecord blob.Info

func (b blobInfoRecord) Record(r *render.Record) {
	r.Bytes("reference", b.Reference)
	r.Size("size", b.Size)
	r.Expiry("expires_at", b.ExpiresAt)
}

func blobWrittenFields() render.Fields {
	return render.Fields{Shown: []string{"reference", "outcome", "size", "expires_at"}, Hidden: []string{"dry_run", "store_now"}}
}

// blobWrittenRecord is what became of a blob that was put or renewed.
type blobWrittenRecord struct {
	blob.Result
	reference string
	size      *int64 // nil where it is not known
	dryRun    bool
}

func (b blobWrittenRecord) Record(r *render.Record) {
	r.Bytes("reference", b.reference)
	if b.size != nil {
		r.Size("size", *b.size)
	}
	r.Expiry("expires_at", b.ExpiresAt)
	recordOutcome(r, string(b.Outcome), b.Now, b.dryRun)
}

// blobDeletedRecord is what became of a blob that was to be deleted.
type blobDeletedRecord struct {
	blob.Result
	reference string
	dryRun    bool
}

func (b blobDeletedRecord) Record(r *render.Record) {
	outcome := string(b.Outcome)
	if b.Outcome == blob.Missing {
		outcome = "absent"
	}
	r.Bytes("reference", b.reference)
	recordOutcome(r, outcome, b.Now, b.dryRun)
}

// recordOutcome appends what the writes of the blob and the warm store share.
func recordOutcome(r *render.Record, outcome string, now int64, dryRun bool) {
	r.Text("outcome", outcome)
	if dryRun {
		r.Bool("dry_run", true)
	}
	r.Time("store_now", now)
}

// blobStatRecord is what is known of a blob and of the frame in it.
type blobStatRecord blob.Stat

func (s blobStatRecord) Record(r *render.Record) {
	blobInfoRecord(s.Info).Record(r)
	recordFrame(r, s.Kind, s.Frame, s.Damage, blob.MaxManifestChunks)
}

// recordFrame appends what a blob begins as, and the frame in it, with at most
// so many chunks of a manifest.
func recordFrame(r *render.Record, kind blob.Kind, frame *blob.Frame, damage error, chunksShown int) {
	r.Text("kind", string(kind))
	switch {
	case kind == blob.KindBytes:
	case errors.Is(damage, blob.ErrCRC):
		r.Text("crc", "wrong")
	case damage == nil || frame != nil:
		r.Text("crc", "ok")
	default:
		r.Null("crc") // it is not known where it stands
	}
	switch {
	case frame == nil:
	case frame.Chunk != nil:
		r.Int("order", int64(frame.Chunk.Order))
		r.Int("data_length", int64(frame.Chunk.Length))
	case frame.Manifest != nil:
		m := frame.Manifest
		r.Uint("total_length", m.TotalLength)
		r.Int("chunk_count", int64(len(m.Chunks)))
		r.Text("crc32c", hexCRC(m.CRC32C))
		r.Text("sha256", fmt.Sprintf("%x", m.SHA256))
		chunks := make([]manifestChunkRecord, min(len(m.Chunks), chunksShown))
		for i := range chunks {
			chunks[i] = manifestChunkRecord(m.Chunks[i])
		}
		render.List(r, "chunks", chunks)
	}
}

func hexCRC(crc uint32) string { return fmt.Sprintf("%08x", crc) }

// manifestChunkRecord is one chunk as a manifest names it.
type manifestChunkRecord blob.ManifestChunk

func (c manifestChunkRecord) Record(r *render.Record) {
	r.Int("order", int64(c.Order))
	r.Bytes("reference", c.Reference)
	r.Uint("length", c.Length)
	r.Text("crc32c", hexCRC(c.CRC32C))
}
