// Manifests: whether their chunks are there, and are what they say.

package verify

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// fault is one way in which a manifest and its chunks disagree.
type fault struct {
	code            Code
	expected, found string
	more            int // chunks of which the same is to be said
}

const (
	// tries is how often a manifest is read that is another one afterwards.
	tries = 3
	// outlived is how much of its life, in ms, a manifest may have left when
	// its chunks are gone: they were stored before it.
	outlived = 60_000
)

// manifest returns what is wrong with the manifest that a blob holds, and which
// it is. It was there, and the same, before its chunks were read and afterwards.
func (b *blobChecks) manifest(ctx context.Context, reference string) ([]fault, identity, error) {
	stat, err := b.stat(ctx, reference)
	for range tries {
		if err != nil || stat.Damage != nil || stat.Frame == nil || stat.Frame.Manifest == nil {
			return nil, identity{}, err
		}
		faults, err := b.compare(ctx, stat.Frame.Manifest)
		if err != nil || len(faults) == 0 {
			return nil, identity{}, err
		}
		before := identityOf(stat)
		if stat, err = b.stat(ctx, reference); err != nil {
			return nil, identity{}, err
		}
		if after := identityOf(stat); after.same(before) {
			faults = slices.DeleteFunc(faults, func(f fault) bool {
				return f.code == BlobManifestMissing && stat.ExpiresAt > 0 && stat.ExpiresAt-stat.Now < outlived
			})
			return faults, after, nil
		}
	}
	return nil, identity{}, nil
}

// identity tells a manifest from one that is stored in its place later, were it
// for the same payload.
type identity struct {
	sha256    [sha256.Size]byte
	expiresAt int64
}

func identityOf(stat blob.Stat) identity {
	if stat.Frame == nil || stat.Frame.Manifest == nil {
		return identity{}
	}
	return identity{stat.Frame.Manifest.SHA256, stat.ExpiresAt}
}

// same compares with room for what a clock and a time to live, read one after
// the other, differ by.
func (i identity) same(other identity) bool {
	apart := i.expiresAt - other.expiresAt
	return i.sha256 == other.sha256 && max(apart, -apart) < settling.Milliseconds()/2
}

// compare holds a manifest against its chunks. Of each kind there is one fault,
// that of the first chunk which has it.
func (b *blobChecks) compare(ctx context.Context, m *blob.Manifest) ([]fault, error) {
	var faults []fault
	add := func(f fault) {
		if i := slices.IndexFunc(faults, func(known fault) bool { return known.code == f.code }); i >= 0 {
			faults[i].more++
			return
		}
		faults = append(faults, f)
	}
	digest, sum := sha256.New(), crc32.New(crc32.MakeTable(crc32.Castagnoli))
	intact := true // the digests are over the data of every chunk
	var total uint64
	for i, named := range m.Chunks {
		total += named.Length
		if i > 0 && named.Order <= m.Chunks[i-1].Order {
			intact = false
			add(fault{code: BlobManifestOrder, expected: "ascending orders", found: fmt.Sprintf("chunk %q of order %d behind one of order %d", named.Reference, named.Order, m.Chunks[i-1].Order)})
		}
		f, whole, err := b.chunk(ctx, named, io.MultiWriter(digest, sum))
		if err != nil {
			return nil, err
		}
		if f != nil {
			add(*f)
		}
		intact = intact && whole
	}
	if total != m.TotalLength {
		intact = false
		add(fault{code: BlobManifestLength, expected: fmt.Sprintf("%d bytes", m.TotalLength), found: fmt.Sprintf("%d bytes in %d chunks", total, len(m.Chunks))})
	}
	if got := [sha256.Size]byte(digest.Sum(nil)); intact && (got != m.SHA256 || sum.Sum32() != m.CRC32C) {
		add(fault{code: BlobManifestDigest, expected: fmt.Sprintf("CRC-32C %08x, SHA-256 %x", m.CRC32C, m.SHA256), found: fmt.Sprintf("CRC-32C %08x, SHA-256 %x", sum.Sum32(), got)})
	}
	for i, f := range faults {
		if f.more > 0 {
			faults[i].found += fmt.Sprintf(", and %d more chunks", f.more)
		}
	}
	return faults, nil
}

// chunk holds a chunk that a manifest names against the blob, whose data goes
// to data. It tells whether all of that is what the manifest names.
func (b *blobChecks) chunk(ctx context.Context, named blob.ManifestChunk, data io.Writer) (f *fault, whole bool, err error) {
	found, err := b.store.ReadChunk(ctx, named.Reference, data)
	expected := chunkText(named.Order, named.Length, named.CRC32C)
	switch {
	case err == nil, errors.Is(err, blob.ErrCRC): // a wrong CRC of a frame is a finding of its own
		text := chunkText(found.Order, uint64(found.Length), found.CRC32C)
		if text == expected {
			return nil, err == nil, nil
		}
		return &fault{code: BlobManifestChunk, expected: expected, found: fmt.Sprintf("%q: %s", named.Reference, text)}, false, nil
	case errors.Is(err, storeerr.NotFound):
		return &fault{code: BlobManifestMissing, expected: "every chunk", found: fmt.Sprintf("no blob %q", named.Reference)}, false, nil
	case errors.Is(err, storeerr.Integrity):
		return &fault{code: BlobManifestChunk, expected: expected, found: fmt.Sprintf("%q is no whole chunk", named.Reference)}, false, nil
	}
	return nil, false, err
}

func chunkText(order uint32, length uint64, crc uint32) string {
	return fmt.Sprintf("order %d, %d bytes, CRC-32C %08x", order, length, crc)
}
