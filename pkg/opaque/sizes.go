package opaque

import (
	"context"
	"fmt"
	"strconv"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// VersionSize is where a version stands in its row, and how large it is.
type VersionSize struct {
	Sequence float64 // its score
	Bytes    int64   // of the member
}

// Sizes returns the versions of the rows of keys, oldest first, without moving
// them. A key without a row, and one of another type, has none. The server
// reads some MaxPageBytes in one step, so that large rows are of several
// moments.
func (s *Store) Sizes(ctx context.Context, keys ...string) ([][]VersionSize, error) {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = s.keys.Row(key)
	}
	rows := make([][]VersionSize, 0, len(keys))
	var begun []VersionSize // of a row that is not read to its end
	for len(rows) < len(keys) {
		from, skip := resumption(begun)
		reply, err := luascripts.Must("opaque_sizes").Run(ctx, s.rdb, names[len(rows):], MaxPageBytes, from, skip).Slice()
		if err != nil {
			return nil, storeerr.FromRedis(err, storeerr.Reads, "reading the sizes of rows")
		}
		for _, row := range reply[1:] {
			versions, err := versionSizes(texts(row))
			if err != nil {
				return nil, err
			}
			rows, begun = append(rows, append(begun, versions...)), nil
		}
		if last := len(rows) - 1; reply[0] == "more" {
			rows, begun = rows[:last], rows[last]
		}
	}
	return rows, nil
}

// resumption is the score at which a row goes on behind what was read of it,
// and how many of that score were.
func resumption(read []VersionSize) (from string, skip int) {
	if len(read) == 0 {
		return "-inf", 0
	}
	last := read[len(read)-1].Sequence
	for skip < len(read) && read[len(read)-1-skip].Sequence == last {
		skip++
	}
	return scored{score: last}.scoreText(), skip
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
