// The JSON form of a batch.

package cmd

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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

// parseTxn reads a batch. What it does not know, what stands twice, what has no
// effect where it stands and what is no UTF-8 is refused: a misspelt condition
// must not be no condition, and a value is stored to the byte or not at all.
func parseTxn(text []byte) (opaque.Batch, error) {
	var b opaque.Batch
	var t txnJSON
	if err := json.Unmarshal(text, &t, json.RejectUnknownMembers(true)); err != nil {
		return b, storeerr.New(storeerr.Invalid, "the batch does not read: %s", jsonFault(err)).
			WithHint("bytes that are no UTF-8 go into key_base64 and value_base64")
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

// jsonFault says what is wrong and where, without the names of Go types.
func jsonFault(err error) string {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Sprintf("%v, at byte %d", e.Err, e.ByteOffset)
	}
	e, ok := errors.AsType[*json.SemanticError](err)
	switch {
	case !ok:
		return err.Error()
	case e.Err != nil:
		return fmt.Sprintf("%v %q", e.Err, e.JSONPointer.LastToken())
	}
	return fmt.Sprintf("%s holds a %v that does not belong there", e.JSONPointer, e.JSONKind)
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
