package opaque

import (
	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// Row is a live row, or a deleted one where those are asked for.
type Row struct {
	Key       string
	Value     string
	Version   string
	ExpiresAt int64 // ms since the epoch, 0 = never
	Tombstone bool  // it was deleted
}

// DamagedRow is the cause of an error that concerns one row alone: whoever
// reads several may go on with the others.
type DamagedRow struct {
	Key    string // logical key
	Reason string
	Older  bool // it is of the layout without a format tag
}

// Error says what is wrong with the row.
func (d *DamagedRow) Error() string { return d.Reason }

func (s *Store) damaged(key, reason string) error {
	return s.damagedRow(&DamagedRow{Key: key, Reason: reason})
}

func (s *Store) damagedRow(cause *DamagedRow) error {
	key := cause.Key
	return storeerr.New(storeerr.Integrity, "the row of key %q is damaged: %w", key, cause).AtKey(s.keys.Row(key))
}

// decode reads the member of a row that should be key's.
func (s *Store) decode(key, member string) (Member, error) {
	m, err := DecodeMember(member)
	if err != nil {
		older := member != "" && member[0] == UntaggedByte
		return Member{}, s.damagedRow(&DamagedRow{Key: key, Reason: err.Error(), Older: older})
	}
	if m.Key != key {
		return Member{}, s.damaged(key, "it holds a record of another key")
	}
	return m, nil
}

func (m Member) row() Row {
	return Row(m)
}

// isWrongType tells a reply that a key is of another type from other errors.
func isWrongType(err error) bool { return redis.HasErrorPrefix(err, "WRONGTYPE") }
