// Tests of the blob store's checks: what is planted is found, and nothing else.
package verify_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
	"github.com/keyspacectl/keyspacectl/pkg/verify"
)

// blobField is a blob store with sound blobs: payloads in chunks with their
// manifests, and plain bytes.
type blobField struct {
	t      *testing.T
	rdb    redis.UniversalClient
	prefix string
	store  *blob.Store
}

const soundPayloads = 8

func newBlobField(t *testing.T, rdb redis.UniversalClient, prefix string) *blobField {
	t.Helper()
	store, err := blob.New(rdb, prefix)
	if err != nil {
		t.Fatal(err)
	}
	f := &blobField{t: t, rdb: rdb, prefix: prefix, store: store}
	for i := range soundPayloads {
		f.payload(fmt.Sprintf("sound/%d", i), 5000*(i+1))
		f.put(fmt.Sprintf("sound/bytes/%d", i), strings.Repeat("x", i), time.Hour)
	}
	f.put("sound/magic", "ZLTX", time.Hour)
	return f
}

func (f *blobField) put(reference, payload string, retention time.Duration) {
	f.t.Helper()
	if err := f.rdb.Set(f.t.Context(), f.store.Key(reference), payload, retention).Err(); err != nil {
		f.t.Fatal(err)
	}
}

// manifest is a payload in chunks.
type manifest struct {
	reference string
	frame     blob.Manifest
	data      [][]byte
}

// payload stores a payload in three chunks, and its manifest.
func (f *blobField) payload(reference string, size int) manifest {
	m := newManifest(reference, size)
	f.store3(m)
	return m
}

func newManifest(reference string, size int) manifest {
	whole := make([]byte, size)
	random := rand.NewChaCha8([32]byte([]byte(fmt.Sprintf("%32.32s", reference))))
	_, _ = random.Read(whole) // never fails
	m := manifest{reference: reference, frame: blob.Manifest{TotalLength: uint64(size), CRC32C: castagnoli(whole), SHA256: sha256.Sum256(whole)}}
	for part := range slices.Chunk(whole, size/3+1) {
		m.frame.Chunks = append(m.frame.Chunks, blob.ManifestChunk{
			Order: uint32(len(m.data)), Reference: fmt.Sprintf("%s/%d", reference, len(m.data)), Length: uint64(len(part)), CRC32C: castagnoli(part),
		})
		m.data = append(m.data, part)
	}
	return m
}

func (f *blobField) store3(m manifest) {
	for i, c := range m.frame.Chunks {
		f.put(c.Reference, chunkFrame(c.Order, m.data[i]), time.Hour)
	}
	f.put(m.reference, manifestFrame(m.frame), time.Hour)
}

func castagnoli(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func frameOf(magic string, body []byte) string {
	b := append([]byte(magic), 1, 0, 0)
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(body))), body...)
	return string(binary.BigEndian.AppendUint32(b, castagnoli(b)))
}

func chunkFrame(order uint32, data []byte) string {
	body := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, order), uint32(len(data)))
	return frameOf("ZLTC", append(body, data...))
}

func manifestFrame(m blob.Manifest) string {
	body := binary.BigEndian.AppendUint64([]byte{1}, m.TotalLength)
	body = append(binary.BigEndian.AppendUint32(body, m.CRC32C), 32)
	body = binary.BigEndian.AppendUint32(append(body, m.SHA256[:]...), uint32(len(m.Chunks)))
	for _, c := range m.Chunks {
		body = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32(body, c.Order), uint16(len(c.Reference)))
		body = binary.BigEndian.AppendUint64(append(body, c.Reference...), c.Length)
		body = binary.BigEndian.AppendUint32(body, c.CRC32C)
	}
	return frameOf("ZLTM", body)
}

// verify returns what is found, by code and reference.
func (f *blobField) verify(o verify.Options) map[string]string {
	f.t.Helper()
	all := map[string]string{}
	for found, err := range verify.Blobs(f.t.Context(), f.rdb, f.prefix, o) {
		if err != nil {
			f.t.Fatal(err)
		}
		text := string(found.Code) + " " + found.Reference
		if _, twice := all[text]; twice || found.RedisKey != f.store.Key(found.Reference) || found.Store != verify.StoreBlob || found.Expected == "" || found.Mendable() || found.Repair != "" {
			f.t.Errorf("%+v, again: %t", found, twice)
		}
		all[text] = found.Found
	}
	return all
}

func (f *blobField) check(planted []blobPlant) {
	f.t.Helper()
	want := map[string]string{}
	for _, p := range planted {
		p.plant(f)
		maps.Copy(want, p.want)
	}
	before := f.rdb.DBSize(f.t.Context()).Val()
	got := f.verify(verify.Options{})
	for text, part := range want {
		if found, ok := got[text]; !ok || !strings.Contains(found, part) {
			f.t.Errorf("%.100s: %q, want %q", text, found, part)
		}
	}
	for text, found := range got {
		if _, planted := want[text]; !planted {
			f.t.Errorf("%.100s: %q was not planted", text, found)
		}
	}
	if after := f.rdb.DBSize(f.t.Context()).Val(); after < before {
		f.t.Errorf("%d keys, %d before", after, before)
	}
}

func TestBlobsPlanted(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		rdb := s.Client(t)
		t.Run("nothing", func(t *testing.T) { t.Parallel(); newBlobField(t, rdb, s.Prefix(t)).check(nil) })
		for _, p := range blobPlants() {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				newBlobField(t, rdb, s.Prefix(t)).check([]blobPlant{p})
			})
		}
		t.Run("all", func(t *testing.T) { t.Parallel(); newBlobField(t, rdb, s.Prefix(t)).check(blobPlants()) })
	})
}

func TestBlobsWithoutPayload(t *testing.T) {
	t.Parallel()
	f := newBlobField(t, testserver.Embedded(t).Client(t), "app")
	for _, p := range blobPlants() {
		p.plant(f)
	}
	var checked int64
	got := f.verify(verify.Options{NoPayload: true, Progress: func(n int64) { checked = n }})
	for text := range got {
		if code, _, _ := strings.Cut(text, " "); !slices.Contains([]string{"blob-no-ttl", "blob-length", "blob-type", "blob-reference"}, code) {
			t.Errorf("%.100s was found without reading payloads", text)
		}
	}
	if keys := f.rdb.DBSize(t.Context()).Val(); len(got) != 6 || checked != keys {
		t.Errorf("%d findings in %d of %d blobs, want 6 in all", len(got), checked, keys)
	}
	for range verify.Blobs(t.Context(), f.rdb, "app", verify.Options{}) {
		break // a reader may stop
	}
	for _, err := range verify.Blobs(t.Context(), f.rdb, "", verify.Options{}) {
		if !errors.Is(err, storeerr.Invalid) {
			t.Errorf("an empty prefix: %v", err)
		}
	}
}

// Chunks end before their manifest, which was stored after them.
func TestBlobsAtTheirEnd(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newBlobField(t, s.Client(t), s.Prefix(t))
		m := f.payload("ending", 1000)
		f.rdb.PExpire(t.Context(), f.store.Key(m.reference), 50*time.Second)
		f.rdb.Del(t.Context(), f.store.Key(m.frame.Chunks[0].Reference))
		if got := f.verify(verify.Options{}); len(got) > 0 {
			t.Errorf("found %v", got)
		}
	})
}

// What is suspicious is looked at again when all else was. Between the two
// looks, a payload may come to be whole, or another one that is not.
func TestBlobsLooksAgain(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newBlobField(t, s.Client(t), s.Prefix(t))
		var damaged []manifest
		for _, name := range []string{"arriving", "leaving", "replaced", "renewed"} {
			m := f.payload(name, 1000)
			f.rdb.Del(t.Context(), f.store.Key(m.frame.Chunks[0].Reference))
			damaged = append(damaged, m)
		}
		blobs := f.rdb.DBSize(t.Context()).Val()
		got := f.verify(verify.Options{Progress: func(n int64) {
			if n != blobs {
				return
			}
			f.store3(damaged[0])
			f.rdb.Del(t.Context(), f.store.Key("leaving"))
			f.put("replaced", manifestFrame(newManifest("replaced", 1001).frame), time.Hour)
			f.rdb.PExpire(t.Context(), f.store.Key("renewed"), 2*time.Hour)
		}})
		for _, text := range []string{"blob-manifest-missing replaced", "blob-manifest-chunk replaced", "blob-manifest-missing renewed"} {
			if _, ok := got[text]; !ok {
				t.Errorf("%s was not found", text)
			}
		}
		if len(got) != 3 {
			t.Errorf("found %v", got)
		}
	})
}

// Beside writers, who store a payload chunk by chunk and delete it so, nothing
// is found.
func TestBlobsBesideWriters(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, s testserver.Server) {
		f := newBlobField(t, s.Client(t), s.Prefix(t))
		ctx, stop := context.WithCancel(t.Context())
		rounds := make(chan struct{}, 1000)
		var writers sync.WaitGroup
		for w := range 3 {
			writers.Go(func() {
				for round := 0; ctx.Err() == nil; round++ {
					// The same references hold other bytes each time.
					m := newManifest(fmt.Sprintf("writer/%d", w), 3000+round)
					f.store3(m)
					for i := range m.frame.Chunks {
						f.rdb.Del(t.Context(), f.store.Key(m.frame.Chunks[i].Reference))
					}
					f.rdb.Del(t.Context(), f.store.Key(m.reference))
					select {
					case rounds <- struct{}{}:
					default:
					}
				}
			})
		}
		for range 5 {
			<-rounds // something was written since the last time
			if got := f.verify(verify.Options{}); len(got) > 0 {
				t.Errorf("found beside writers: %v", got)
			}
		}
		stop()
		writers.Wait()
	})
}
