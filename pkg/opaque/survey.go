// Looking at every row of a store without moving its history: what statistics
// and checks begin with.

package opaque

import (
	"context"
	"fmt"
	"iter"
	"strconv"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// SurveyOptions says what a survey looks at.
type SurveyOptions struct {
	// Prefix bounds the keys, at most MaxPrefixBytes.
	Prefix string
	// PageSize is how many index entries a round trip looks at, 1 to
	// MaxPageRows; 0 is MaxPageRows.
	PageSize int
}

// Surveyed is what a survey finds of an entry of the index.
type Surveyed struct {
	Key      string
	Now      int64   // the server's time when it was looked at, ms since the epoch
	Versions int64   // members of the row; 0 where the index names no row
	Score    float64 // of the newest member: its sequence
	Raw      string  // the newest member as it stands in Redis
	Newest   Member  // the same, decoded
}

// Live tells whether the row was live when it was looked at.
func (r Surveyed) Live() bool { return r.Newest.Key != "" && r.Newest.LiveAt(r.Now) }

// Survey yields every entry of the index under a prefix in byte order, live or
// not, with its newest version and how many there are. It opens no snapshot:
// each row is looked at, whole, when it is reached, so that rows may be of
// different moments, and one may have gone since the index was read.
//
// A row that is damaged is yielded as an error with a *DamagedRow in its
// chain, beside what is known of it: Raw is empty where the row is no sorted
// set. The survey goes on behind it. Any other error ends it.
func (s *Store) Survey(ctx context.Context, o SurveyOptions) iter.Seq2[Surveyed, error] {
	return func(yield func(Surveyed, error) bool) {
		v, err := s.openView(ctx, ScanOptions{Prefix: o.Prefix, PageSize: o.PageSize, Live: true})
		if err == nil {
			v.survey = true
			err = v.walk(ctx, func(key string, entry any, now int64) bool {
				found, err := s.surveyed(key, entry)
				found.Now = now
				return yield(found, err)
			})
		}
		if err != nil {
			yield(Surveyed{}, err)
		}
	}
}

// surveyInto reads a page as opaque_survey tells it.
func (v *view) surveyInto(ctx context.Context, page *pageRead, maxBytes int64) {
	reply, err := luascripts.Must("opaque_survey").Run(ctx, v.store.rdb, v.rowKeys(page.keys), maxBytes).Slice()
	if err != nil {
		page.err = storeerr.FromRedis(err, storeerr.Reads, "reading rows")
		return
	}
	page.now, page.err = parseMilliseconds(fmt.Sprint(reply[0]))
	page.members = reply[1:]
}

// surveyed reads one entry of opaque_survey's answer.
func (s *Store) surveyed(key string, entry any) (Surveyed, error) {
	found := Surveyed{Key: key}
	switch entry := entry.(type) {
	case nil:
		return found, nil
	case []any:
		var score string
		found.Versions, _ = entry[0].(int64)
		score, _ = entry[1].(string)
		found.Raw, _ = entry[2].(string)
		var err error
		if found.Score, err = strconv.ParseFloat(score, 64); err != nil {
			return found, s.damaged(key, fmt.Sprintf("its score reads %q", score))
		}
		found.Newest, err = s.decode(key, found.Raw)
		return found, err
	}
	return found, s.damaged(key, "it is no sorted set")
}
