// Rows as JSON, a line each.

package cmd

import (
	"github.com/go-json-experiment/json"

	"github.com/keyspacectl/keyspacectl/pkg/opaque"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// rowJSON is a row as scan prints it. The fields without a type are those that
// nothing is done with.
type rowJSON struct {
	keyJSON
	valueJSON
	Retention     *string `json:"retention"`
	ExpiresAt     *string `json:"expires_at"`
	Version       any     `json:"version"`
	VersionBase64 any     `json:"version_base64"`
	Size          any     `json:"size"`
}

// read reads a line as strictly as a batch is read.
func (row *rowJSON) read(line []byte) error {
	if err := json.Unmarshal(line, row, json.RejectUnknownMembers(true)); err != nil {
		return storeerr.New(storeerr.Invalid, "it does not read: %s", jsonFault(err))
	}
	return nil
}

// parsePut reads a line as a row to be put.
func parsePut(line []byte) (opaque.Mutation, error) {
	var row rowJSON
	if err := row.read(line); err != nil {
		return opaque.Mutation{}, err
	}
	put := mutationJSON{Kind: string(opaque.KindPut), keyJSON: row.keyJSON, valueJSON: row.valueJSON, Retention: row.Retention, ExpiresAt: row.ExpiresAt}
	m, err := put.mutation()
	if err != nil {
		return m, storeerr.New(storeerr.Invalid, "%w", err)
	}
	return m, m.Check()
}
