// Package legacy reads what older layouts of the versioned store and the blob
// store left in a Redis: rows and blobs as they are now, one key a record. It
// writes nothing, and guesses at nothing: what is not exactly of its layout is
// storeerr.Integrity.
//
// The layouts, by their names in package keyspace:
//
//	v3 untagged           members with neither a tag byte nor a mark for base64
//	opaque-v1             a hash a row, and one of all rows
//	tagless               a hash a row
//	relocation-opaque-v1  a hash a blob
//	payload, plain-blob   a string a blob
//	relocation-root       a string of base64 text a blob
package legacy

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

// Record is a row or a blob of an older layout.
type Record struct {
	Key       string // logical key, or reference
	Value     string
	Version   string // of a row
	ExpiresAt int64  // ms since the epoch, 0 = never
}

// DecodeMember reads a member of v3 without a tag. ambiguous says that the
// value may be bytes or the base64 text of bytes: nothing marks the stores that
// keep text, so whoever asks has to know. The errors are those of
// opaque.DecodeUntagged, and one for a version that the layout does not have.
func DecodeMember(member string) (m opaque.Member, ambiguous bool, err error) {
	m, err = opaque.DecodeUntagged(member)
	switch {
	case err != nil:
		return m, false, err
	case m.Version == "" && !m.Tombstone:
		return opaque.Member{}, false, errors.New("the version is empty")
	case m.Tombstone && m.Value != "":
		return opaque.Member{}, false, errors.New("the tombstone has a value")
	}
	_, err = DecodeBase64(m.Value)
	return m, m.Value != "" && err == nil, nil
}

// DecodeBase64 reads base64 text as the older layouts have it: the standard
// alphabet, padded, nothing between.
func DecodeBase64(text string) (string, error) {
	value, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || base64.StdEncoding.EncodedLen(len(value)) != len(text) {
		// The decoder passes over line ends, which are no part of the layouts.
		return "", errors.New("the text is no base64")
	}
	return string(value), nil
}

// DecodeRecord reads the hash of a row of opaque-v1: key, bytes (base64),
// version and expiresAtMs. sum is the SHA-256 in the name of the hash, in hex.
func DecodeRecord(sum string, fields map[string]string) (Record, error) {
	if err := hasExactly(fields, "key", "bytes", "version", "expiresAtMs"); err != nil {
		return Record{}, err
	}
	r := Record{Key: fields["key"], Version: fields["version"]}
	var err error
	if r.ExpiresAt, err = moment(fields["expiresAtMs"]); err != nil {
		return Record{}, err
	}
	if r.Value, err = DecodeBase64(fields["bytes"]); err != nil {
		return Record{}, fmt.Errorf("bytes: %w", err)
	}
	return checked(r, named(sum, r.Key), checkRow(r))
}

// DecodeIndexEntry reads a field of the index of opaque-v1: the JSON array
// [base64, version, expiresAtMs]. Version and expiry are numbers or text.
func DecodeIndexEntry(key, text string) (Record, error) {
	var parts []json.RawMessage
	if err := json.Unmarshal([]byte(text), &parts); err != nil || len(parts) != 3 {
		return Record{}, errors.New("the entry is no JSON array of three")
	}
	var scalars [3]string
	for i, part := range parts {
		if err := json.Unmarshal(part, &scalars[i]); err == nil && part[0] == '"' {
			continue
		}
		if i == 0 || !isDigits(string(part)) {
			return Record{}, fmt.Errorf("item %d of the entry is %s", i+1, part)
		}
		scalars[i] = string(part)
	}
	r := Record{Key: key, Version: scalars[1]}
	var err error
	if r.ExpiresAt, err = moment(scalars[2]); err != nil {
		return Record{}, err
	}
	if r.Value, err = DecodeBase64(scalars[0]); err != nil {
		return Record{}, err
	}
	return checked(r, checkRow(r))
}

// DecodeTagless reads the hash of a tagless row: bytes (raw) and version. Its
// key stands in the name of the hash, and its expiry is that of the hash.
func DecodeTagless(key string, fields map[string]string, expiresAt int64) (Record, error) {
	if err := hasExactly(fields, "bytes", "version"); err != nil {
		return Record{}, err
	}
	r := Record{Key: key, Value: fields["bytes"], Version: fields["version"], ExpiresAt: expiresAt}
	return checked(r, checkRow(r))
}

// DecodeBlob reads the hash of a blob of relocation-opaque-v1: reference,
// bytes (raw) and expiresAtMs. sum is the SHA-256 in its name, in hex.
func DecodeBlob(sum string, fields map[string]string) (Record, error) {
	if err := hasExactly(fields, "reference", "bytes", "expiresAtMs"); err != nil {
		return Record{}, err
	}
	r := Record{Key: fields["reference"], Value: fields["bytes"]}
	var err error
	if r.ExpiresAt, err = moment(fields["expiresAtMs"]); err != nil {
		return Record{}, err
	}
	if r.ExpiresAt == 0 {
		return Record{}, errors.New("a blob that never expires")
	}
	if len(r.Key) == 0 || len(r.Key) > blob.MaxReferenceBytes || !utf8.ValidString(r.Key) {
		return Record{}, fmt.Errorf("the reference is none: 1 to %d bytes of UTF-8", blob.MaxReferenceBytes)
	}
	return checked(r, named(sum, r.Key))
}

var errTooMany = errors.New("the hash has more fields than the layout")

// checked is the record, unless something is wrong with it.
func checked(r Record, errs ...error) (Record, error) {
	if err := cmp.Or(errs...); err != nil {
		return Record{}, err
	}
	return r, nil
}

// hasExactly holds a hash to the fields that its layout has.
func hasExactly(fields map[string]string, names ...string) error {
	for _, name := range names {
		if _, ok := fields[name]; !ok {
			return fmt.Errorf("the hash has no field %q", name)
		}
	}
	if len(fields) > len(names) {
		return errTooMany
	}
	return nil
}

// named holds a key to the name that its record has.
func named(sum, key string) error {
	if got := sha256.Sum256([]byte(key)); hex.EncodeToString(got[:]) != sum {
		return errors.New("it holds a record of another key")
	}
	return nil
}

func checkRow(r Record) error {
	switch {
	case r.Key == "" || len(r.Key) > opaque.MaxKeyBytes:
		return fmt.Errorf("the key has %d bytes, it may have 1 to %d", len(r.Key), opaque.MaxKeyBytes)
	case r.Version == "" || len(r.Version) > opaque.MaxVersionBytes:
		return fmt.Errorf("the version has %d bytes, it may have 1 to %d", len(r.Version), opaque.MaxVersionBytes)
	}
	return nil
}

// moment reads expiresAtMs: 0 is never.
func moment(text string) (int64, error) {
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !isDigits(text) {
		return 0, fmt.Errorf("expiresAtMs is %q", text)
	}
	return ms, nil
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
