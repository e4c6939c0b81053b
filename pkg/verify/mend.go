// Running the scripts that mend. All answer alike: sound, "repaired …",
// "refused …", or "more …" where they should be run again.

package verify

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// runMend runs a script until it has nothing more to do.
func runMend(ctx context.Context, rdb redis.UniversalClient, name string, keys []string, args ...any) (Outcome, error) {
	for again := false; ; again = true {
		reply, err := luascripts.Must(name).Run(ctx, rdb, keys, args...).Text()
		if err != nil {
			return Outcome{}, storeerr.FromRedis(err, storeerr.Writes, fmt.Sprintf("repairing %q", keys[0]))
		}
		switch word, detail, _ := strings.Cut(reply, " "); {
		case word == "more":
		case word == "repaired", word == "sound" && again:
			return Outcome{Repaired, detail}, nil
		case word == "sound":
			return Outcome{AlreadySound, ""}, nil
		case word == "refused":
			return Outcome{Refused, detail}, nil
		default:
			return Outcome{}, storeerr.New(storeerr.Failed, "repairing %q: the script %s answered %q", keys[0], name, reply)
		}
	}
}
