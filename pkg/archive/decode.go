// Lines as they are read: strictly. Every field once and of its type, none
// that is not known, none missing, and all within the limits of the stores.

package archive

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/warm"
)

// field is a set of fields of a record.
type field int

const (
	keyField field = 1 << iota
	valueField
	versionField
	expiryField
	tombstoneField
	historyField
	referenceField
	namespaceField
	segmentField
	chunkField
	tokenField
)

// fieldsOf are the fields that a record of a kind must have, and may have.
func fieldsOf(kind Kind) (must, may field) {
	switch kind {
	case Blob:
		must = referenceField | valueField | expiryField
		return must, must
	case Chunk:
		must = namespaceField | segmentField | chunkField | tokenField | valueField
		return must, must
	}
	must = keyField | versionField | expiryField
	return must, must | valueField | tombstoneField | historyField
}

// kind returns the first member of a line, which tells its kind.
func (o *object) kind() (string, error) {
	name, value, err := o.next()
	switch {
	case err != nil:
		return "", errSyntax
	case string(name) != "kind":
		return "", errors.New("it does not begin with its kind")
	}
	return text(name, value)
}

// decodeRecord reads the members behind the kind of a record. Its value may
// share memory with the line, which is overwritten.
func decodeRecord(kind Kind, o object) (Record, error) {
	r := Record{Kind: kind}
	must, may := fieldsOf(kind)
	var seen field
	for {
		name, value, err := o.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return r, err
		}
		at, err := r.set(name, value)
		switch {
		case at == 0 || at&may == 0:
			return r, fmt.Errorf("a %s has no field %.64q", kind, name)
		case seen&at != 0:
			return r, fmt.Errorf("the field %q stands twice", name)
		case err != nil:
			return r, fmt.Errorf("the field %q: %w", name, err)
		}
		seen |= at
	}
	if seen&must != must || kind == Row && r.Tombstone == (seen&valueField != 0) {
		return r, fmt.Errorf("a field of the %s is missing, or it has one too many", kind)
	}
	return r, r.check()
}

// set reads a member into its field, and returns that; 0 is none.
func (r *Record) set(name, value []byte) (at field, err error) {
	switch string(name) {
	case "key", "key_base64":
		at = keyField
		r.Key, err = text(name, value)
	case "reference", "reference_base64":
		at = referenceField
		r.Key, err = text(name, value)
	case "value", "value_base64":
		at = valueField
		r.Value, err = octets(name, value)
	case "version", "version_base64":
		at = versionField
		r.Version, err = text(name, value)
	case "expires_at_ms":
		at = expiryField
		if !null(value) {
			r.ExpiresAt, err = number(value, 1, math.MaxInt64)
		}
	case "tombstone":
		at = tombstoneField
		r.Tombstone, err = isTrue(value)
	case "history":
		at = historyField
		r.History, err = isTrue(value)
	case "namespace":
		at = namespaceField
		if !null(value) {
			r.Namespace, err = text(name, value)
		}
	case "segment":
		at = segmentField
		r.Segment, err = text(name, value)
	case "chunk":
		at = chunkField
		var n int64
		n, err = number(value, 0, warm.MaxChunks-1)
		r.Chunk = uint16(n)
	case "token", "token_base64":
		at = tokenField
		r.Token, err = text(name, value)
	}
	return at, err
}

func isTrue(value []byte) (bool, error) {
	if string(value) != "true" {
		return false, errors.New("it can only be true")
	}
	return true, nil
}

// check holds a record to the limits of its store.
func (r *Record) check() error {
	switch r.Kind {
	case Blob:
		if !utf8.ValidString(r.Key) {
			return errors.New("the reference is no UTF-8")
		}
		return cmp.Or(
			within("reference", len(r.Key), 1, blob.MaxReferenceBytes),
			within("value", len(r.Value), 0, blob.MaxPayloadBytes))
	case Chunk:
		return cmp.Or(
			warm.Segment{Namespace: r.Namespace, Name: r.Segment}.Check(),
			within("token", len(r.Token), 1, opaque.MaxVersionBytes),
			within("value", len(r.Value), 0, warm.MaxPayloadBytes))
	}
	least := 1
	if r.Tombstone {
		least = 0 // other drivers leave it out there
	}
	return cmp.Or(
		within("key", len(r.Key), 1, opaque.MaxKeyBytes),
		within("version", len(r.Version), least, opaque.MaxVersionBytes),
		within("value", len(r.Value), 0, opaque.MaxValueBytes))
}

func within(what string, size, least, most int) error {
	if size < least || size > most {
		return fmt.Errorf("the %s has %d bytes, it may have %d to %d", what, size, least, most)
	}
	return nil
}
