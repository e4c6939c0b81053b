// What a comparison finds.

package transfer

import (
	"cmp"
	"fmt"

	"github.com/keyspacectl/keyspacectl/pkg/archive"
)

// Tally counts what was compared.
type Tally struct {
	Equal     int64 // records that are on both sides
	OnlyLeft  int64
	OnlyRight int64
	Different int64
	Expired   int64 // on one side alone because its time had come at the other
	Damaged   int64 // that could not be read on a side
}

// Differences is how many differences there were.
func (t *Tally) Differences() int64 { return t.OnlyLeft + t.OnlyRight + t.Different }

// Compared is how many keys, references and chunks were looked at.
func (t *Tally) Compared() int64 { return t.Equal + t.Differences() + t.Expired + t.Damaged }

// Change says on which sides a record is.
type Change string

// The changes.
const (
	OnlyLeft  Change = "only_left"
	OnlyRight Change = "only_right"
	Different Change = "different" // it is on both sides, and not the same
)

// Aspect names what differs between two records.
type Aspect string

// The aspects.
const (
	AspectValue   Aspect = "value"
	AspectExpiry  Aspect = "expiry"
	AspectVersion Aspect = "version" // of a row
	AspectToken   Aspect = "token"   // of a chunk
)

// Difference is a record that the sides do not have alike.
type Difference struct {
	ID
	Change  Change
	Aspects []Aspect // in what the two differ; nil where one is missing
	Left    *Facts   // nil where the side lacks the record
	Right   *Facts
}

// ID says which record it is.
type ID struct {
	Kind      archive.Kind
	Key       string // a row's logical key or a blob's reference
	Namespace string // of a chunk; empty = the absent one
	Segment   string // of a chunk
	Chunk     uint16 // of a chunk
}

// IDOf returns which record r is.
func IDOf(r *archive.Record) ID {
	return ID{Kind: r.Kind, Key: r.Key, Namespace: r.Namespace, Segment: r.Segment, Chunk: r.Chunk}
}

// Compare orders records as [Export] does: rows, blobs, chunks; by key, by
// reference, by namespace, segment and number, text in byte order.
func (id ID) Compare(other ID) int {
	return cmp.Or(
		cmp.Compare(rank(id.Kind), rank(other.Kind)),
		cmp.Compare(id.Key, other.Key),
		cmp.Compare(id.Namespace, other.Namespace),
		cmp.Compare(id.Segment, other.Segment),
		cmp.Compare(id.Chunk, other.Chunk),
	)
}

func rank(k archive.Kind) int {
	switch k {
	case archive.Row:
		return 0
	case archive.Blob:
		return 1
	}
	return 2
}

// String names the record.
func (id ID) String() string {
	switch id.Kind {
	case archive.Row:
		return fmt.Sprintf("the row of key %q", id.Key)
	case archive.Blob:
		return fmt.Sprintf("the blob of reference %q", id.Key)
	}
	return fmt.Sprintf("chunk %d of segment %q, namespace %q", id.Chunk, id.Segment, id.Namespace)
}

// Facts are what is told of a record on one side.
type Facts struct {
	Size      int64  // bytes of the value
	Version   string // of a row, else empty
	Token     string // of a chunk, else empty
	ExpiresAt int64  // ms since the epoch, 0 = never
}

func factsOf(r *archive.Record) *Facts {
	return &Facts{Size: int64(len(r.Value)), Version: r.Version, Token: r.Token, ExpiresAt: r.ExpiresAt}
}
