// Differences as records: what all formats print.

package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/archive"
	"github.com/keyspacectl/keyspacectl/pkg/transfer"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// differenceFields are those of differences between some stores. Versions and
// tokens are shown where they are compared.
func differenceFields(stores []string, versions bool) render.Fields {
	fields := render.Fields{Shown: []string{"store"}}
	shown := func(store string, names ...string) {
		if slices.Contains(stores, store) {
			fields.Shown = append(fields.Shown, names...)
		} else {
			fields.Hidden = append(fields.Hidden, names...)
		}
	}
	shown(transfer.Opaque, "key")
	shown(transfer.Blob, "reference")
	shown(transfer.Warm, "namespace", "segment", "chunk")
	fields.Shown = append(fields.Shown, "difference", "differs_in", "left_size", "right_size", "left_expires_at", "right_expires_at")
	for _, v := range []struct{ store, field string }{{transfer.Opaque, "version"}, {transfer.Warm, "token"}} {
		if names := []string{"left_" + v.field, "right_" + v.field}; versions {
			shown(v.store, names...)
		} else {
			fields.Hidden = append(fields.Hidden, names...)
		}
	}
	return fields
}

// differenceRecord is a record that the sides do not have alike.
type differenceRecord transfer.Difference

func (d differenceRecord) Record(r *render.Record) {
	r.Text("store", transfer.StoreOf(d.Kind))
	switch d.Kind {
	case archive.Row:
		r.Bytes("key", d.Key)
	case archive.Blob:
		r.Bytes("reference", d.Key)
	default:
		recordChunk(r, warm.Segment{Namespace: d.Namespace, Name: d.Segment}, d.ID.Chunk)
	}
	r.Text("difference", string(d.Change))
	aspects := make([]string, len(d.Aspects))
	for i, a := range d.Aspects {
		aspects[i] = string(a)
	}
	render.Texts(r, "differs_in", aspects)
	for _, side := range []struct {
		name string
		*transfer.Facts
	}{{leftSide, d.Left}, {rightSide, d.Right}} {
		if side.Facts == nil {
			r.Null(side.name + "_size")
			continue
		}
		r.Size(side.name+"_size", side.Size)
		if d.Kind == archive.Chunk {
			r.Bytes(side.name+"_token", side.Token)
			continue
		}
		if d.Kind == archive.Row {
			r.Bytes(side.name+"_version", side.Version)
		}
		r.Expiry(side.name+"_expires_at", side.ExpiresAt)
	}
}

// tallied says in words what was compared.
func tallied(t transfer.Tally) string {
	parts := []string{count(int(t.Equal), "equal record")}
	for _, part := range []struct {
		n    int64
		what string
	}{{t.OnlyLeft, "only left"}, {t.OnlyRight, "only right"}, {t.Different, "different"}, {t.Expired, "expired meanwhile"}, {t.Damaged, "damaged"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	return strings.Join(parts, ", ")
}
