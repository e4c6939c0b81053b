// The blob store: every blob, the frames in them, and what manifests name.

package verify

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Blobs yields what is wrong in a blob store, in no order. The last thing
// yielded may be an error, one of storeerr's kinds.
//
// A blob that vanishes meanwhile is no finding. A manifest whose chunks are not
// as it says is looked at again at the end, a second later or more: its payload
// may be on its way in or out. Of a large blob a piece at a time is held, and
// one whole blob at most.
func Blobs(ctx context.Context, rdb redis.UniversalClient, prefix string, o Options) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		b := &blobChecks{report: report{yield: yield, options: o}, rdb: rdb, prefix: prefix}
		var err error
		if b.store, err = blob.New(rdb, prefix); err == nil {
			err = b.run(ctx)
		}
		b.end(err, "verifying the blob store")
	}
}

// blobChecks are the checks of one blob store.
type blobChecks struct {
	report
	rdb      redis.UniversalClient
	prefix   string
	store    *blob.Store
	suspects []suspect
}

// suspect is a manifest to be looked at again.
type suspect struct {
	reference string
	which     identity
	since     time.Time
	looks     int
}

const (
	// settling is how long a payload may be on its way in or out.
	settling = time.Second
	// maxLooks is how often a manifest is looked at that is another one each
	// time.
	maxLooks = 4
	// maxSuspects is how many manifests wait at most to be looked at again.
	maxSuspects = 1000
)

func (b *blobChecks) run(ctx context.Context) error {
	for info, err := range b.store.Walk(ctx, "") {
		switch {
		case errors.Is(err, storeerr.Integrity):
			err = b.foreign(ctx, info.Reference)
		case err == nil:
			err = b.blob(ctx, info)
		}
		if err != nil {
			return err
		}
		b.looked(1)
		if len(b.suspects) == maxSuspects {
			if err := b.lookAgain(ctx); err != nil {
				return err
			}
		}
	}
	return b.lookAgain(ctx)
}

// lookAgain looks at the suspects again, each when it had time to settle. One
// that was stored anew meanwhile is given time once more.
func (b *blobChecks) lookAgain(ctx context.Context) error {
	for len(b.suspects) > 0 {
		s := b.suspects[0]
		b.suspects = b.suspects[1:]
		select {
		case <-time.After(time.Until(s.since.Add(settling))):
		case <-ctx.Done():
			return ctx.Err()
		}
		faults, which, err := b.manifest(ctx, s.reference)
		if err != nil {
			return err
		}
		if len(faults) > 0 && !which.same(s.which) {
			b.suspect(suspect{s.reference, which, time.Now(), s.looks + 1})
			continue
		}
		for _, f := range faults {
			if err := b.found(b.at(f.code, s.reference, f.expected, f.found)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *blobChecks) suspect(s suspect) {
	if s.looks < maxLooks {
		b.suspects = append(b.suspects, s)
	}
}

func (b *blobChecks) at(code Code, reference, expected, found string) Finding {
	f := code.finding(b.prefix, b.store.Key(reference), expected, found)
	f.Reference = reference
	return f
}

// foreign reports a key under the name of the store that is no blob, if it
// still is there.
func (b *blobChecks) foreign(ctx context.Context, reference string) error {
	kind, err := b.rdb.Type(ctx, b.store.Key(reference)).Result()
	switch {
	case err != nil || kind == "none":
		return err
	case kind != "string":
		return b.found(b.at(BlobType, reference, "a string", "a "+kind))
	case blob.CheckReference(reference) != nil:
		return b.found(b.at(BlobReference, reference, "1 to 4,096 bytes of UTF-8", fmt.Sprintf("%d bytes: %.100q", len(reference), reference)))
	}
	return nil
}

// blob checks one blob.
func (b *blobChecks) blob(ctx context.Context, info blob.Info) error {
	if info.ExpiresAt == 0 {
		if err := b.found(b.at(BlobNoTTL, info.Reference, "a TTL", "none")); err != nil {
			return err
		}
	}
	if info.Size > blob.MaxPayloadBytes {
		return b.found(b.at(BlobLength, info.Reference, fmt.Sprintf("at most %d bytes", blob.MaxPayloadBytes), fmt.Sprintf("%d bytes", info.Size)))
	}
	if b.options.NoPayload || info.Kind == blob.KindBytes {
		return nil
	}
	stat, err := b.stat(ctx, info.Reference)
	switch {
	case err != nil:
		return err
	case stat.Damage != nil:
		code := BlobFrame
		if errors.Is(stat.Damage, blob.ErrCRC) {
			code = BlobFrameCRC
		}
		return b.found(b.at(code, info.Reference, "a whole frame of a "+string(stat.Kind), reason(stat.Damage)))
	case stat.Frame == nil || stat.Frame.Manifest == nil:
		return nil
	}
	faults, which, err := b.manifest(ctx, info.Reference)
	if len(faults) > 0 {
		b.suspect(suspect{info.Reference, which, time.Now(), 1})
	}
	return err
}

// stat is Stat, but that a blob which is gone, or became another key, has an
// empty Stat.
func (b *blobChecks) stat(ctx context.Context, reference string) (blob.Stat, error) {
	stat, err := b.store.Stat(ctx, reference)
	if errors.Is(err, storeerr.NotFound) || errors.Is(err, storeerr.Integrity) {
		return blob.Stat{}, nil
	}
	return stat, err
}
