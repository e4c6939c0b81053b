package opaque

import (
	"fmt"
	"strconv"
)

// scored is an entry of a sorted set.
type scored struct {
	member string
	score  float64
}

// scoreText is the score in plain digits, as every server takes it.
func (z scored) scoreText() string { return strconv.FormatFloat(z.score, 'f', -1, 64) }

// scoredMembers reads a reply of members and scores in turn.
func scoredMembers(reply []string) ([]scored, error) {
	entries := make([]scored, len(reply)/2)
	for i := range entries {
		score, err := strconv.ParseFloat(reply[2*i+1], 64)
		if err != nil {
			return nil, fmt.Errorf("reading the answer: %w", err)
		}
		entries[i] = scored{reply[2*i], score}
	}
	return entries, nil
}

// texts is a nested reply of strings.
func texts(reply any) []string {
	items, _ := reply.([]any)
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = fmt.Sprint(item)
	}
	return texts
}
