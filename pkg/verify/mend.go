// Running the scripts that mend. All answer alike: sound, "repaired …",
// "refused …", or "more …" where they should be run again.

package verify

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// runMend runs a script until it has nothing more to do. What it moved before
// its last answer is told with that.
func runMend(ctx context.Context, rdb redis.UniversalClient, name string, keys []string, args ...any) (Outcome, error) {
	before := 0
	for {
		reply, err := luascripts.Must(name).Run(ctx, rdb, keys, args...).Text()
		if err != nil {
			return Outcome{}, storeerr.FromRedis(err, storeerr.Writes, fmt.Sprintf("repairing %q", keys[0]))
		}
		word, detail, _ := strings.Cut(reply, " ")
		if word == "more" {
			n, err := strconv.Atoi(detail)
			if err != nil {
				return Outcome{}, fmt.Errorf("reading the answer of %s: %w", name, err)
			}
			before += n
			continue
		}
		if before > 0 {
			detail = strings.TrimPrefix(fmt.Sprintf("%s; moved %d before that", detail, before), "; ")
		}
		switch {
		case word == "repaired", word == "sound" && before > 0:
			return Outcome{Repaired, detail}, nil
		case word == "sound":
			return Outcome{AlreadySound, ""}, nil
		case word == "refused":
			return Outcome{Refused, detail}, nil
		}
		return Outcome{}, storeerr.New(storeerr.Failed, "repairing %q: the script %s answered %q", keys[0], name, reply)
	}
}
