// Rows and blobs of older layouts that are a key each.

package inspect

import (
	"context"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/keyspace"
	"github.com/keyspacectl/keyspacectl/pkg/legacy"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

// maxFields is more fields than any record of an older layout has.
const maxFields = 16

// fields reads a record of an older layout that is a hash; nil where it is
// none.
func (r *reader) fields(ctx context.Context) (map[string]string, error) {
	if r.Size > maxFields {
		r.damaged("it has %d fields, and no record has so many", r.Size)
		return nil, r.readForeign(ctx)
	}
	return r.rdb.HGetAll(ctx, r.RedisKey).Result()
}

// readRecord reads a row of opaque-v1 or tagless: the one version it has.
func (r *reader) readRecord(ctx context.Context) error {
	fields, err := r.fields(ctx)
	if err != nil || fields == nil {
		return err
	}
	var record legacy.Record
	if r.Name.Layout == keyspace.Tagless {
		record, err = legacy.DecodeTagless(r.Name.Key, fields, r.ExpiresAt)
	} else {
		record, err = legacy.DecodeRecord(r.Name.SHA256, fields)
	}
	if err != nil {
		r.damaged("it does not decode: %w", err)
		return r.readForeign(ctx)
	}
	if r.Name.Key == "" {
		r.Name.Key = record.Key
	}
	v := Version{Member: opaque.Member{Key: record.Key, Value: record.Value, Version: record.Version, ExpiresAt: record.ExpiresAt}}
	v.judge(nil, r.Now)
	r.Versions = []Version{v}
	return nil
}

// readBlob reads a blob, its bytes only where they begin as a frame does.
func (r *reader) readBlob(ctx context.Context) error {
	switch r.Name.Layout {
	case keyspace.Current:
		return r.readCurrentBlob(ctx)
	case keyspace.RelocationOpaqueV1:
		fields, err := r.fields(ctx)
		if err != nil || fields == nil {
			return err
		}
		record, err := legacy.DecodeBlob(r.Name.SHA256, fields)
		if err != nil {
			r.damaged("it does not decode: %w", err)
			return r.readForeign(ctx)
		}
		if r.Name.Key = record.Key; r.ExpiresAt == 0 {
			r.ExpiresAt = record.ExpiresAt
		}
		r.payload(record.Value)
		return nil
	}
	if r.Size > maxOlderBlob {
		r.damaged("it has %d bytes, more than a blob may have", r.Size)
		return r.readForeign(ctx)
	}
	text, err := r.rdb.Get(ctx, r.RedisKey).Result()
	if err != nil {
		return err
	}
	if r.Name.Layout == keyspace.RelocationRoot {
		if text, err = legacy.DecodeBase64(text); err != nil {
			r.damaged("it does not decode: %w", err)
			return r.readForeign(ctx)
		}
	}
	r.payload(text)
	return nil
}

// maxOlderBlob bounds what is read of an older blob: a payload as base64.
const maxOlderBlob = blob.MaxPayloadBytes/3*4 + 4

// payload tells what the bytes of a blob are.
func (r *reader) payload(bytes string) {
	r.Blob = &Blob{Reference: r.Name.Key, Size: int64(len(bytes)), Kind: blob.KindOf([]byte(bytes))}
	frame, err := blob.DecodeFrame([]byte(bytes))
	if err != nil {
		r.damaged("%w", err)
	}
	r.Blob.Frame = withoutData(frame)
}

func withoutData(frame *blob.Frame) *blob.Frame {
	if frame != nil && frame.Chunk != nil {
		frame.Chunk.Data = nil
	}
	return frame
}

func (r *reader) readCurrentBlob(ctx context.Context) error {
	store, err := blob.New(r.rdb, r.Name.Prefix)
	if err != nil {
		return err
	}
	stat, err := store.Stat(ctx, r.Name.Key)
	if err != nil {
		return err
	}
	r.Blob = &Blob{Reference: stat.Reference, Size: stat.Size, Kind: stat.Kind, Frame: stat.Frame}
	if stat.Damage != nil {
		r.damaged("%w", stat.Damage)
	}
	if stat.Size > blob.MaxPayloadBytes {
		r.damaged("it has %d bytes, more than a blob may have", stat.Size)
	}
	return nil
}
