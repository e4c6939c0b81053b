package opaque

import (
	"context"
	"fmt"
	"strconv"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// maxSized is how many versions of a row Sizes tells of: more than any has
// that the drivers wrote.
const maxSized = 1024

// VersionSize is where a version stands in its row, and how large it is.
type VersionSize struct {
	Sequence float64 // its score
	Bytes    int64   // of the member
}

// Sizes returns the versions of the rows of keys, oldest first, without moving
// them; of a row with more than 1,024 the newest. A key without a row, and one
// of another type, has none. Each row is looked at in one moment.
func (s *Store) Sizes(ctx context.Context, keys ...string) ([][]VersionSize, error) {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = s.keys.Row(key)
	}
	rows := make([][]VersionSize, 0, len(keys))
	for len(rows) < len(keys) {
		reply, err := luascripts.Must("opaque_sizes").Run(ctx, s.rdb, names[len(rows):], 8*MaxPageBytes, maxSized).Slice()
		if err != nil {
			return nil, storeerr.FromRedis(err, storeerr.Reads, "reading the sizes of rows")
		}
		for _, row := range reply {
			versions, err := versionSizes(texts(row))
			if err != nil {
				return nil, err
			}
			rows = append(rows, versions)
		}
	}
	return rows, nil
}

func versionSizes(row []string) ([]VersionSize, error) {
	versions := make([]VersionSize, len(row)/2)
	for i := range versions {
		score, scoreErr := strconv.ParseFloat(row[2*i], 64)
		size, sizeErr := strconv.ParseInt(row[2*i+1], 10, 64)
		if scoreErr != nil || sizeErr != nil {
			return nil, fmt.Errorf("reading the answer: %q and %q are no numbers", row[2*i], row[2*i+1])
		}
		versions[i] = VersionSize{score, size}
	}
	return versions, nil
}
