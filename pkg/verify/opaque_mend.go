// Mending the versioned store: which script does it, and what it answers.

package verify

import (
	"context"
	"strings"
)

// quarantineLimit bounds the members that one script looks at.
const quarantineLimit = 2048

// bookkeepingKey is the key of a store's bookkeeping by its short name.
func (v *opaqueVerifier) bookkeepingKey(name string) string {
	switch name {
	case "index":
		return v.keys.Index()
	case "map":
		return v.keys.Map()
	}
	return v.keys.Cleanup()
}

// quarantineKey is where the members of a row are put aside.
func (v *opaqueVerifier) quarantineKey(redisKey string) string {
	return v.domain() + "-quarantine" + strings.TrimPrefix(redisKey, v.domain())
}

// domain is what all keys of the store begin with.
func (v *opaqueVerifier) domain() string { return strings.TrimSuffix(v.keys.Index(), ":index") }

// mendEntry makes the entry of a row's key agree with the row.
func (v *opaqueVerifier) mendEntry(r *row, entry string) mend {
	return v.script("opaque_repair_key", []string{r.redisKey, v.keys.Index(), v.keys.Map(), v.keys.Cleanup()}, r.key, entry)
}

// quarantine moves what is not wanted out of a row.
func (v *opaqueVerifier) quarantine(r *row, what string) mend {
	keys := []string{r.redisKey, v.quarantineKey(r.redisKey), v.keys.Index(), v.keys.Map(), v.keys.Cleanup()}
	return v.script("opaque_repair_quarantine", keys, r.key, what, quarantineLimit)
}

// persist takes the TTL of a key away.
func (v *opaqueVerifier) persist(redisKey string) mend {
	return v.script("repair_ttl", []string{redisKey})
}

// script is the mend by a script.
func (v *opaqueVerifier) script(name string, keys []string, args ...any) mend {
	return func(ctx context.Context) (Outcome, error) { return runMend(ctx, v.rdb, name, keys, args...) }
}
