// A warm store for tests to damage.
package verify_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/verify"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// warmField is a warm store with sound chunks in two segments: all but those
// below 100, which are for planting.
type warmField struct {
	t      *testing.T
	rdb    redis.UniversalClient
	prefix string
	store  *warm.Store
	sound  int // chunks a segment
}

// Sound chunks a segment: few where there are many stores, and more than are
// asked for at once.
const (
	few  = 60
	many = 1200
)

func newWarmField(t *testing.T, rdb redis.UniversalClient, prefix string, sound int) *warmField {
	t.Helper()
	store, err := warm.New(rdb, prefix)
	if err != nil {
		t.Fatal(err)
	}
	f := &warmField{t: t, rdb: rdb, prefix: prefix, store: store, sound: sound}
	for _, seg := range []warm.Segment{users, online} {
		_, err := rdb.Pipelined(t.Context(), func(p redis.Pipeliner) error {
			for n := range uint16(sound) {
				f.chunk(p, seg, 100+n, deltaOf(roaring.BitmapOf(1, uint32(n)+2), roaring.BitmapOf(0)))
			}
			f.chunk(p, seg, 65535, deltaOf(roaring.New(), roaring.New()))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// chunk writes a chunk as other drivers leave it.
func (f *warmField) chunk(rdb redis.Cmdable, seg warm.Segment, n uint16, payload string) {
	rdb.HSet(f.t.Context(), f.store.ChunkKey(seg, n), "t", uuidOf(n), "b", payload)
	rdb.ZAdd(f.t.Context(), f.store.IndexKey(seg), redis.Z{Score: float64(n), Member: n})
}

func uuidOf(n uint16) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

func deltaOf(adds, removes *roaring.Bitmap) string {
	a, addsErr := adds.ToBytes()
	r, removesErr := removes.ToBytes()
	if err := errors.Join(addsErr, removesErr); err != nil {
		panic(err)
	}
	return string(slices.Concat(binary.LittleEndian.AppendUint32([]byte{1}, uint32(len(a))), a, r))
}

// told is a finding in a few words.
func (f *warmField) told(found verify.Finding) string {
	text := string(found.Code)
	switch {
	case found.Member != "" || found.Code == verify.WarmIndexMember:
		text += fmt.Sprintf(" %s %q", found.Segment, found.Member)
	case found.Chunk != nil:
		text += fmt.Sprintf(" %s %d", found.Segment, *found.Chunk)
	case found.Segment != nil:
		text += " " + found.Segment.String()
	default:
		_, name, _ := strings.Cut(found.RedisKey, "}")
		if strings.Contains(found.RedisKey, "..") {
			name = strings.Split(found.RedisKey, "|")[1]
		}
		text += " " + name
	}
	if found.Prefix != f.prefix || found.Store != verify.StoreWarm || found.Expected == "" || found.Found == "" || len(found.Found) > 400 {
		f.t.Errorf("%s: %+v", text, found)
	}
	return text
}

// verify returns what is found, sorted, and what became of it.
func (f *warmField) verify(o verify.RunOptions) (told []string, outcomes map[string]verify.Outcome) {
	f.t.Helper()
	o.Prefix, o.Stores = f.prefix, []verify.Store{verify.StoreWarm}
	outcomes = map[string]verify.Outcome{}
	for r, err := range verify.Run(f.t.Context(), f.rdb, o) {
		if err != nil {
			f.t.Fatal(err)
		}
		text := f.told(r.Finding)
		told = append(told, text)
		outcomes[text] = r.Outcome
	}
	slices.Sort(told)
	return told, outcomes
}

// contents are the sound chunks and the segment without planted ones.
func (f *warmField) contents() map[string]string {
	f.t.Helper()
	all := map[string]string{}
	for _, seg := range []warm.Segment{users, online} {
		for chunk, err := range f.store.List(f.t.Context(), seg, warm.ListOptions{Payload: true}) {
			if chunk.Number >= 100 {
				all[fmt.Sprint(seg, chunk.Number)] = fmt.Sprintf("%s %x %v", chunk.Token, chunk.Payload, err)
			}
		}
	}
	if want := 2 * (f.sound + 1); len(all) != want {
		f.t.Errorf("%d sound chunks are listed, want %d", len(all), want)
	}
	return all
}
