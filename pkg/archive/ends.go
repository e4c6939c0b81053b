// The first and the last line of an archive, by the library for JSON.

package archive

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	headerKind  = "header"
	trailerKind = "trailer"
)

type headerLine struct {
	Kind         string         `json:"kind"`
	Format       string         `json:"format"`
	Version      int            `json:"version"`
	Prefix       string         `json:"prefix"`
	PrefixBase64 []byte         `json:"prefix_base64,omitempty"`
	Stores       []string       `json:"stores"`
	Moment       int64          `json:"moment_ms"`
	Boundary     *string        `json:"boundary"`
	Match        string         `json:"match,omitempty"`
	MatchBase64  []byte         `json:"match_base64,omitempty"`
	Namespace    jsontext.Value `json:"namespace,omitzero"` // null is the absent one
	Segment      string         `json:"segment,omitempty"`
	Live         bool           `json:"live,omitzero"`
	Tombstones   bool           `json:"tombstones,omitzero"`
	History      bool           `json:"history,omitzero"`
}

type trailerLine struct {
	Kind       string `json:"kind"`
	Rows       int64  `json:"rows"`
	Tombstones int64  `json:"tombstones"`
	History    int64  `json:"history"`
	Blobs      int64  `json:"blobs"`
	Chunks     int64  `json:"chunks"`
	Damaged    int64  `json:"damaged"`
	SHA256     string `json:"sha256"`
}

// orBase64 returns what of a text goes into the field of its name, and what
// into the one in base64.
func orBase64(s string) (text string, raw []byte) {
	if utf8.ValidString(s) {
		return s, nil
	}
	return "", []byte(s)
}

// appendHeader appends the line of a header.
func appendHeader(buf []byte, h *Header) []byte {
	l := headerLine{
		Kind: headerKind, Format: Format, Version: FormatVersion, Stores: h.Stores, Moment: h.Moment,
		Segment: h.Options.Segment, Live: h.Options.Live, Tombstones: h.Options.Tombstones, History: h.Options.History,
	}
	l.Prefix, l.PrefixBase64 = orBase64(h.Prefix)
	l.Match, l.MatchBase64 = orBase64(h.Options.Match)
	if h.Boundary != "" {
		l.Boundary = &h.Boundary
	}
	if namespace := h.Options.Namespace; namespace != nil {
		l.Namespace = jsontext.Value("null")
		if *namespace != "" {
			// Nothing that names a namespace is beyond JSON.
			l.Namespace, _ = jsontext.AppendQuote(nil, *namespace)
		}
	}
	return appendJSON(buf, l)
}

func appendTrailer(buf []byte, t *Trailer) []byte {
	return appendJSON(buf, trailerLine{
		Kind: trailerKind, Rows: t.Rows, Tombstones: t.Tombstones, History: t.History,
		Blobs: t.Blobs, Chunks: t.Chunks, Damaged: t.Damaged, SHA256: t.SHA256,
	})
}

// appendJSON appends a line of a type that always marshals.
func appendJSON(buf []byte, v any) []byte {
	line, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("archive: %v", err))
	}
	return append(append(buf, line...), '\n')
}

func strictly(line []byte, into any) error {
	if err := json.Unmarshal(line, into, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("it does not read: %w", err)
	}
	return nil
}

// decodeHeader reads the first line.
func decodeHeader(line []byte) (Header, error) {
	o := object{rest: line}
	if kind, err := o.kind(); err != nil || kind != headerKind {
		return Header{}, errors.New("it is no header of an archive")
	}
	var l headerLine
	if err := strictly(line, &l); err != nil {
		return Header{}, err
	}
	if l.Format != Format || l.Version != FormatVersion {
		return Header{}, fmt.Errorf("it is of the format %q, version %d, and not of %q, version %d", l.Format, l.Version, Format, FormatVersion)
	}
	h := Header{
		Prefix: cmp.Or(l.Prefix, string(l.PrefixBase64)), Stores: l.Stores, Moment: l.Moment,
		Options: Options{
			Match: cmp.Or(l.Match, string(l.MatchBase64)), Segment: l.Segment,
			Live: l.Live, Tombstones: l.Tombstones, History: l.History,
		},
	}
	if l.Boundary != nil {
		h.Boundary = *l.Boundary
	}
	if l.Namespace != nil {
		h.Options.Namespace = new(string)
		if !bytes.Equal(l.Namespace, []byte("null")) {
			if err := strictly(l.Namespace, h.Options.Namespace); err != nil {
				return Header{}, err
			}
		}
	}
	return h, nil
}

func decodeTrailer(line []byte) (Trailer, error) {
	var l trailerLine
	if err := strictly(line, &l); err != nil {
		return Trailer{}, err
	}
	counts := Counts{Rows: l.Rows, Tombstones: l.Tombstones, History: l.History, Blobs: l.Blobs, Chunks: l.Chunks}
	return Trailer{Counts: counts, Damaged: l.Damaged, SHA256: l.SHA256}, nil
}
