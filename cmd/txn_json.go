// The JSON form of a batch.

package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/keyspacectl/keyspacectl/internal/duration"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

type txnJSON struct {
	Conditions []conditionJSON `json:"conditions"`
	Mutations  []mutationJSON  `json:"mutations"`
}

type conditionJSON struct {
	Kind string `json:"kind"`
	keyJSON
	valueJSON
	Version       *string `json:"version"`
	VersionBase64 *[]byte `json:"version_base64"`
}

type mutationJSON struct {
	Kind string `json:"kind"`
	keyJSON
	valueJSON
	Retention *string `json:"retention"`
	ExpiresAt *string `json:"expires_at"`
}

type keyJSON struct {
	Key       *string `json:"key"`
	KeyBase64 *[]byte `json:"key_base64"`
}

type valueJSON struct {
	Value       *string `json:"value"`
	ValueBase64 *[]byte `json:"value_base64"`
}

// parseTxn reads a batch. What it does not know, and what has no effect where
// it stands, is refused: a misspelt condition must not be no condition.
func parseTxn(text []byte) (opaque.Batch, error) {
	var b opaque.Batch
	if !utf8.Valid(text) {
		return b, storeerr.New(storeerr.Invalid, "the batch is no valid UTF-8").WithHint("use key_base64 and value_base64 for other bytes")
	}
	var t txnJSON
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return b, storeerr.New(storeerr.Invalid, "the batch does not read: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return b, storeerr.New(storeerr.Invalid, "the batch is followed by something else")
	}
	for i, c := range t.Conditions {
		condition, err := c.condition()
		if err != nil {
			return b, storeerr.New(storeerr.Invalid, "condition %d: %w", i+1, err)
		}
		b.Conditions = append(b.Conditions, condition)
	}
	for i, m := range t.Mutations {
		mutation, err := m.mutation()
		if err != nil {
			return b, storeerr.New(storeerr.Invalid, "mutation %d: %w", i+1, err)
		}
		b.Mutations = append(b.Mutations, mutation)
	}
	return b, nil
}

func (c conditionJSON) condition() (opaque.Condition, error) {
	none := opaque.Condition{}
	key, err := exactlyOne("key", c.Key, c.KeyBase64)
	if err != nil {
		return none, err
	}
	hasValue := c.Value != nil || c.ValueBase64 != nil
	hasVersion := c.Version != nil || c.VersionBase64 != nil
	if hasValue && c.Kind != "value" || hasVersion && c.Kind != "version" {
		return none, fmt.Errorf("kind %q takes no such value or version", c.Kind)
	}
	switch opaque.ConditionKind(c.Kind) {
	case opaque.KindMissing:
		return opaque.Missing(key), nil
	case opaque.KindVersion:
		version, err := exactlyOne("version", c.Version, c.VersionBase64)
		return opaque.VersionIs(key, version), err
	case opaque.KindValue:
		value, err := exactlyOne("value", c.Value, c.ValueBase64)
		return opaque.ValueIs(key, value), err
	}
	return none, fmt.Errorf("the kind is missing, version or value, not %q", c.Kind)
}

func (m mutationJSON) mutation() (opaque.Mutation, error) {
	none := opaque.Mutation{}
	key, err := exactlyOne("key", m.Key, m.KeyBase64)
	if err != nil {
		return none, err
	}
	switch opaque.MutationKind(m.Kind) {
	case opaque.KindDelete:
		if m.Value != nil || m.ValueBase64 != nil || m.Retention != nil || m.ExpiresAt != nil {
			return none, fmt.Errorf("a delete takes a key alone")
		}
		return opaque.Delete(key), nil
	case opaque.KindPut:
		value, err := exactlyOne("value", m.Value, m.ValueBase64)
		if err != nil {
			return none, err
		}
		expiry, err := m.expiry()
		return opaque.Put(key, value, expiry), err
	}
	return none, fmt.Errorf("the kind is put or delete, not %q", m.Kind)
}

func (m mutationJSON) expiry() (opaque.Expiry, error) {
	switch {
	case m.Retention != nil && m.ExpiresAt != nil:
		return opaque.Never(), fmt.Errorf("retention and expires_at exclude each other")
	case m.Retention != nil:
		d, err := duration.Parse(*m.Retention)
		if err != nil {
			return opaque.Never(), fmt.Errorf("retention: %w", err)
		}
		return opaque.After(d), nil
	case m.ExpiresAt != nil:
		t, err := time.Parse(time.RFC3339, *m.ExpiresAt)
		if err != nil {
			return opaque.Never(), fmt.Errorf("expires_at %q is no RFC 3339 time such as 2027-01-01T00:00:00Z", *m.ExpiresAt)
		}
		return opaque.At(t.UnixMilli()), nil
	}
	return opaque.Never(), nil
}

// exactlyOne is the bytes of a field, given as text or in base64.
func exactlyOne(name string, text *string, base64 *[]byte) (string, error) {
	switch {
	case text != nil && base64 != nil:
		return "", fmt.Errorf("%s and %s_base64 exclude each other", name, name)
	case text != nil:
		return *text, nil
	case base64 != nil:
		return string(*base64), nil
	}
	return "", fmt.Errorf("%s or %s_base64 is missing", name, name)
}
