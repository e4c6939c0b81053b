// What a server holds, as records: what all formats print.

package cmd

import (
	"cmp"

	"github.com/keyspacectl/keyspacectl/internal/render"
	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
)

func foundFields() render.Fields {
	return render.Fields{
		Shown:  []string{"store", "layout", "prefix", "namespace", "segment", "records", "keys", "bytes", "oldest_snapshot", "due"},
		Hidden: []string{"certain", "measured", "snapshots", "sniffed", "untagged", "complete"},
		Spare:  []string{"keys", "layout"},
	}
}

// foundRecord is a store that a server holds, or the keys of others.
type foundRecord struct {
	keyspace.Found
	complete bool // all keys were looked at
}

func (s foundRecord) Record(r *render.Record) {
	r.Text("store", string(cmp.Or(s.Store, "foreign")))
	if s.Store == keyspace.Foreign {
		for _, name := range []string{"layout", "prefix", "namespace", "segment", "records"} {
			r.Null(name)
		}
	} else {
		r.Text("layout", string(s.RowLayout()))
		r.Bytes("prefix", s.Prefix)
		textOrNull(r, "namespace", s.Namespace)
		if s.Store == keyspace.Warm {
			r.Text("segment", s.Segment)
		} else {
			r.Null("segment")
		}
		r.Int("records", s.Records)
	}
	r.Int("keys", s.Keys)
	if s.Bytes < 0 {
		r.Null("bytes")
	} else {
		r.Size("bytes", s.Bytes)
	}
	if s.Now == 0 {
		r.Null("oldest_snapshot")
		r.Null("due")
	} else {
		r.Time("oldest_snapshot", s.OldestSnapshot)
		r.Int("due", s.Due)
	}
	r.Bool("certain", s.Certain || s.Store == keyspace.Foreign)
	r.Int("measured", s.Measured)
	r.Int("snapshots", s.Snapshots)
	r.Int("sniffed", s.Sniffed)
	r.Int("untagged", s.Untagged)
	r.Bool("complete", s.complete)
}

func textOrNull(r *render.Record, name string, v *string) {
	if v == nil {
		r.Null(name)
	} else {
		r.Text(name, *v)
	}
}
