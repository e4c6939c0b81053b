package opaque

import (
	"math"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// The limits of the versioned store (docs/storage.md). What is beyond one
// is storeerr.Invalid, and nothing is sent.
const (
	MaxKeyBytes     = 1024            // a logical key has 1 to 1,024 bytes
	MaxValueBytes   = 1 << 20         // a value has at most 1 MiB
	MaxVersionBytes = 4096            // a version has 1 to 4,096 bytes
	MaxPrefixBytes  = 1024            // a scan prefix has at most 1,024 bytes
	MaxPageRows     = 1000            // a page has 1 to 1,000 rows
	MaxPageBytes    = 4 << 20         // a page has at most 4 MiB, but always its first row
	MaxBatchKeys    = 2048            // a batch names at most 2,048 distinct keys
	MaxBatchBytes   = 4 << 20         // a batch has at most 4 MiB of keys, values and versions
	MaxRowVersions  = 128             // versions that open snapshots may hold in one row
	MaxSnapshots    = 4096            // snapshots open at once
	MaxExpiry       = 253402300799999 // the last ms of the year 9999

	// rowOverhead is what a row counts in a page besides its key, value and version.
	rowOverhead = 128
)

func checkKey(key string) error {
	if len(key) == 0 {
		return storeerr.New(storeerr.Invalid, "the key is empty")
	}
	if len(key) > MaxKeyBytes {
		return storeerr.New(storeerr.Invalid, "the key has %d bytes, the limit is %d", len(key), MaxKeyBytes)
	}
	return nil
}

func checkPrefix(prefix string) error {
	if len(prefix) > MaxPrefixBytes {
		return storeerr.New(storeerr.Invalid, "the scan prefix has %d bytes, the limit is %d", len(prefix), MaxPrefixBytes)
	}
	return nil
}

func checkPageSize(rows int) error {
	if rows < 1 || rows > MaxPageRows {
		return storeerr.New(storeerr.Invalid, "a page has 1 to %d rows, not %d", MaxPageRows, rows)
	}
	return nil
}

func (c Condition) check() error {
	if err := checkKey(c.Key); err != nil {
		return err
	}
	switch c.Kind {
	case KindMissing:
		return nil
	case KindVersion:
		if len(c.Version) == 0 || len(c.Version) > MaxVersionBytes {
			return storeerr.New(storeerr.Invalid, "the version for key %q has %d bytes, it may have 1 to %d", c.Key, len(c.Version), MaxVersionBytes)
		}
		return nil
	case KindValue:
		return checkValue(c.Key, c.Value)
	}
	return storeerr.New(storeerr.Invalid, "a condition is missing, version or value, not %q", c.Kind)
}

// Check returns storeerr.Invalid unless key, value and expiry are within the
// limits of the store.
func (m Mutation) Check() error { return m.check() }

func (m Mutation) check() error {
	if err := checkKey(m.Key); err != nil {
		return err
	}
	switch m.Kind {
	case KindDelete:
		return nil
	case KindPut:
		if err := checkValue(m.Key, m.Value); err != nil {
			return err
		}
		return m.Expiry.check(m.Key)
	}
	return storeerr.New(storeerr.Invalid, "a mutation is put or delete, not %q", m.Kind)
}

func checkValue(key, value string) error {
	if len(value) > MaxValueBytes {
		return storeerr.New(storeerr.Invalid, "the value for key %q has %d bytes, the limit is %d", key, len(value), MaxValueBytes)
	}
	return nil
}

func (e Expiry) check(key string) error {
	switch e.mode {
	case never, keep:
		return nil
	}
	if e.ms <= 0 {
		return storeerr.New(storeerr.Invalid, "the retention or expiry for key %q is not positive", key)
	}
	if e.ms > MaxExpiry {
		return storeerr.New(storeerr.Invalid, "the retention or expiry for key %q lies past the year 9999", key)
	}
	return nil
}

// check validates a whole batch: each part, then what may be in it together.
func (b Batch) check() error {
	if len(b.Conditions) == 0 && len(b.Mutations) == 0 {
		return storeerr.New(storeerr.Invalid, "the batch is empty")
	}
	bytes := 0
	distinct := make(map[string]struct{}, len(b.Conditions)+len(b.Mutations))
	for _, c := range b.Conditions {
		if err := c.check(); err != nil {
			return err
		}
		if _, twice := distinct[c.Key]; twice {
			return storeerr.New(storeerr.Invalid, "the key %q stands twice among the conditions", c.Key)
		}
		distinct[c.Key] = struct{}{}
		bytes += len(c.Key) + len(c.Version) + len(c.Value)
	}
	mutated := make(map[string]struct{}, len(b.Mutations))
	for _, m := range b.Mutations {
		if err := m.check(); err != nil {
			return err
		}
		if _, twice := mutated[m.Key]; twice {
			return storeerr.New(storeerr.Invalid, "the key %q stands twice among the mutations", m.Key)
		}
		mutated[m.Key] = struct{}{}
		distinct[m.Key] = struct{}{}
		bytes += len(m.Key) + len(m.Value)
	}
	if len(distinct) > MaxBatchKeys {
		return storeerr.New(storeerr.Invalid, "the batch names %d keys, the limit is %d", len(distinct), MaxBatchKeys)
	}
	if bytes > MaxBatchBytes {
		return storeerr.New(storeerr.Invalid, "the batch has %d bytes, the limit is %d", bytes, MaxBatchBytes)
	}
	return nil
}

// saturate turns an unsigned number of ms into a signed one.
func saturate(ms uint64) int64 { return int64(min(ms, math.MaxInt64)) }
