// Package blobdir keeps blobs as the files of a directory: a blob a file, of a
// name that its reference can be read from again.
//
// A name holds lower-case letters, digits, '-', '_' and '.'; every other byte
// of the reference is %xx, in lower-case hex. So names stay apart where a file
// system knows no case or changes accents, none leads out of the directory,
// and none is hidden or a device. A reference that is too long for a name is
// kept in a file named by its SHA-256, and stands in [IndexName].
package blobdir

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/keyspacectl/keyspacectl/pkg/blob"
)

const (
	// IndexName is the file that names the references of files named by a digest,
	// a JSON object a line: {"file":"@…","reference":"…"}.
	IndexName = "references.ndjson"

	suffix       = ".blob"
	digestMark   = "@" // no other name begins with it
	maxNameBytes = 255
)

// FileName returns the name of the file of a blob.
func FileName(reference string) string {
	if name := escape(reference) + suffix; len(name) <= maxNameBytes {
		return name
	}
	sum := sha256.Sum256([]byte(reference))
	return digestMark + hex.EncodeToString(sum[:]) + suffix
}

func isDigest(name string) bool { return strings.HasPrefix(name, digestMark) }

func escape(reference string) string {
	var name strings.Builder
	device := isDevice(reference)
	for i := range len(reference) {
		c := reference[i]
		plain := 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.'
		if !plain || i == 0 && (c == '.' || device) {
			fmt.Fprintf(&name, "%%%02x", c)
		} else {
			name.WriteByte(c)
		}
	}
	return name.String()
}

// isDevice tells whether some systems take a file of such a name for a device,
// whatever stands behind its first dot.
func isDevice(reference string) bool {
	stem, _, _ := strings.Cut(reference, ".")
	switch stem {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(stem) == 4 && (stem[:3] == "com" || stem[:3] == "lpt") && '0' <= stem[3] && stem[3] <= '9'
}

// reference reads the name of a file back. index holds the references of names
// that are digests.
func reference(name string, index map[string]string) (string, error) {
	if isDigest(name) {
		if found, ok := index[name]; ok {
			return found, nil
		}
		return "", fmt.Errorf("%s does not name it", IndexName)
	}
	text, ok := strings.CutSuffix(name, suffix)
	if !ok {
		return "", fmt.Errorf("its name does not end in %s", suffix)
	}
	var found []byte
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			found = append(found, text[i])
			continue
		}
		c, err := hex.DecodeString(text[i+1 : min(i+3, len(text))])
		if err != nil || len(c) != 1 {
			return "", fmt.Errorf("its name has a %% without two digits of hex")
		}
		found = append(found, c[0])
		i += 2
	}
	if got := string(found); FileName(got) != name {
		return "", fmt.Errorf("the blob of that reference would be named %s", FileName(got))
	}
	return string(found), blob.CheckReference(string(found))
}
