// Package archive is the file format in which stores are moved: lines of JSON,
// a header, one line a record, and a trailer with counts and a SHA-256 over
// all lines before it, so that an archive that was cut off or altered is told
// from a whole one. docs/archive.md describes it.
//
// What comes out of a store goes in again unchanged, whatever bytes it is made
// of: text that is no valid UTF-8 stands under the same name with _base64
// behind it.
package archive

import (
	"github.com/keyspacectl/keyspacectl/pkg/blob"
)

// Format and FormatVersion are what the header says of itself.
const (
	Format        = "keyspacectl-archive"
	FormatVersion = 1
)

// MaxLineBytes is the length of the longest line: that of the largest blob in
// base64, the longest reference in escapes, and the names of the fields.
const MaxLineBytes = (blob.MaxPayloadBytes+2)/3*4 + 6*blob.MaxReferenceBytes + 4096

// Kind says what a record is one of.
type Kind string

// The kinds.
const (
	Row   Kind = "row"   // of the versioned store
	Blob  Kind = "blob"  // of the blob store
	Chunk Kind = "chunk" // of the warm store
)

// Record is one row, blob or chunk.
type Record struct {
	Kind  Kind
	Key   string // a row's logical key or a blob's reference
	Value []byte // not to be changed

	Version   string // of a row
	ExpiresAt int64  // of a row or blob: ms since the epoch, 0 = never
	Tombstone bool   // a row that was deleted; it has no value
	History   bool   // an older version of the row before it

	Namespace string // of a chunk; empty = the absent one
	Segment   string // of a chunk
	Chunk     uint16 // the chunk's number
	Token     string // of a chunk
}

// Header is what an archive says of where it comes from.
type Header struct {
	Prefix   string   // of the stores
	Stores   []string // those that were asked for: opaque, blob, warm
	Moment   int64    // the server's time when the export began, ms since the epoch
	Boundary string   // the sequence that the rows were read at; empty without a snapshot
	Options  Options
}

// Options are what narrowed or widened an export.
type Options struct {
	Match      string  // what keys and references begin with
	Namespace  *string // the one namespace, where the empty one is the absent; nil = all
	Segment    string  // the one segment; empty = all
	Live       bool    // each row was read when it was reached, not all at one moment
	Tombstones bool    // deleted rows are there too
	History    bool    // older versions are there too
}

// Trailer is what stands at the end of a whole archive.
type Trailer struct {
	Counts
	Damaged int64  // records that could not be read from the stores, and are not here
	SHA256  string // of all lines before the trailer, in lower-case hex
}

// Counts counts records.
type Counts struct {
	Rows       int64 // live rows
	Tombstones int64 // deleted rows
	History    int64 // older versions of rows
	Blobs      int64
	Chunks     int64
}

// Add counts a record.
func (c *Counts) Add(r *Record) {
	switch {
	case r.Kind == Blob:
		c.Blobs++
	case r.Kind == Chunk:
		c.Chunks++
	case r.History:
		c.History++
	case r.Tombstone:
		c.Tombstones++
	default:
		c.Rows++
	}
}

// Total is the number of records.
func (c *Counts) Total() int64 { return c.Rows + c.Tombstones + c.History + c.Blobs + c.Chunks }
