// Migrating, killed on the way, and beside those who read and write.

package main_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/keyspacectl/keyspacectl/internal/faultproxy"
	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/blob"
	"github.com/keyspacectl/keyspacectl/pkg/luascripts"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

// farOff is in the year 2100, as an untagged member has it, too.
const (
	farOff      = 4102444800000
	farOffBytes = "\xcf\x00\x00\x03\xbb\x2c\xc3\xd8\x00"
)

// layOld lays rows of three layouts and blobs of two, under a prefix.
func layOld(t *testing.T, rdb redis.UniversalClient, prefix string, rows int) {
	t.Helper()
	ctx := t.Context()
	_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		v1 := prefix + ":{zlink-location-opaque-v1}:"
		for i := range rows {
			key := fmt.Sprintf("v1/%d", i)
			sum := sha256.Sum256([]byte(key))
			p.HSet(ctx, v1+"record:"+hex.EncodeToString(sum[:]), "key", key, "bytes", "AP8=", "version", i+1, "expiresAtMs", i%2*farOff)
			p.HSet(ctx, v1+"index", key, fmt.Sprintf(`["AP8=","%d",%d]`, i+1, i%2*farOff))
			p.HSet(ctx, prefix+":opaque:"+hex.EncodeToString(fmt.Appendf(nil, "tagless\x00%d", i)), "bytes", strings.Repeat("\xff", i), "version", i)
			if i%10 == 0 {
				p.Set(ctx, fmt.Sprintf("%s:payload:p/%d", prefix, i), strings.Repeat("p", i), 0)
				p.PExpireAt(ctx, fmt.Sprintf("%s:payload:p/%d", prefix, i), time.UnixMilli(farOff))
				p.Set(ctx, fmt.Sprintf("%s:{relocation}:root:r/%d", prefix, i), "AP8=", 0)
				p.PExpireAt(ctx, fmt.Sprintf("%s:{relocation}:root:r/%d", prefix, i), time.UnixMilli(farOff))
			}
		}
		p.Set(ctx, v1+"version", rows, 0)
		p.RPush(ctx, v1+"scan:1", "v1/1", "v1/2")
		p.Set(ctx, prefix+":opaque:version", rows, 0)
		return nil
	})
	noError(t, err)
}

// layUntagged lays rows without a tag, some with an older member below.
func layUntagged(t *testing.T, rdb redis.UniversalClient, prefix string, rows int) {
	t.Helper()
	ctx := t.Context()
	k, err := opaque.NewKeys(prefix)
	noError(t, err)
	_, err = rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i := range rows {
			key := fmt.Sprintf("u/%04d", i)
			ends := []string{"\xff", farOffBytes}[i%2]
			for n := range 1 + i%3 {
				p.ZAdd(ctx, k.Row(key), redis.Z{Score: float64(1 + n), Member: fmt.Sprintf("\x95\xa6%s\xa3v=%d\xa1%d%s\x00", key, n, n+1, ends)})
			}
			p.ZAdd(ctx, k.Index(), redis.Z{Member: key})
			p.HSet(ctx, k.Map(), key, k.Row(key))
		}
		p.Set(ctx, k.Sequence(), 100, 0)
		return nil
	})
	noError(t, err)
}

// everything is what is under a prefix: each key with its bytes, and for the
// rows of a store key, value, expiry and number of versions. Versions that
// scripts issue depend on the order of writing, and are left out.
func everything(t *testing.T, rdb redis.UniversalClient, prefix string) map[string]string {
	t.Helper()
	ctx := t.Context()
	all := map[string]string{}
	iter := rdb.Scan(ctx, 0, prefix+":*", 1000).Iterator()
	for iter.Next(ctx) {
		key := iter.Val()
		content := ""
		switch rdb.Type(ctx, key).Val() {
		case "string":
			if content = rdb.Get(ctx, key).Val(); strings.HasSuffix(key, ":opaque:sequence") {
				content = "" // it goes by the batches
			}
		case "hash":
			content = fmt.Sprint(rdb.HGetAll(ctx, key).Val())
		case "list":
			content = fmt.Sprint(rdb.LRange(ctx, key, 0, -1).Val())
		case "zset":
			for _, z := range rdb.ZRangeWithScores(ctx, key, 0, -1).Val() {
				if m, err := opaque.DecodeMember(z.Member.(string)); err == nil {
					content += fmt.Sprintf("%q %q %d %v\n", m.Key, m.Value, m.ExpiresAt, m.Tombstone)
				} else {
					content += fmt.Sprintf("%v %q\n", z.Score, z.Member)
				}
			}
		}
		all[strings.TrimPrefix(key, prefix)] = strings.ReplaceAll(content, prefix+":", "")
	}
	noError(t, iter.Err())
	return all
}

// migrateAlike migrates the same on a single server and on a cluster, where the
// old keys of a row are in other slots than the new ones.
func (top *topologies) migrateAlike(t *testing.T) {
	said := map[string]string{}
	for _, name := range []string{"standalone", "cluster"} {
		rdb := redis.UniversalClient(top.standalone.Client(t))
		if name == "cluster" {
			rdb = top.client(t)
		}
		layOld(t, rdb, "older", 60)
		layUntagged(t, rdb, "untagged", 60)
		for _, step := range []string{
			"older migrate", "older migrate --apply", "older migrate", "older migrate --retire --yes", "older verify",
			"untagged migrate --in-place --values raw --apply --yes", "untagged migrate --in-place --retire --yes", "untagged verify",
		} {
			args := strings.Fields(step)
			r := runWith(t.Context(), top.env(name, args[0]), "", append(args[1:], "-o", "ndjson")...)
			if r.status != 0 {
				t.Errorf("%s: %s: %+v", name, step, r)
			}
			said[name] += fmt.Sprintln(step) + r.out
		}
	}
	if said["cluster"] != said["standalone"] || !strings.Contains(said["cluster"], `"layout":"opaque-v1"`) {
		t.Errorf("a cluster: %s\na single server: %s", said["cluster"], said["standalone"])
	}
	for prefix, equal := range map[string]int{"older": 60 + 60 + 6 + 6, "untagged": 60} {
		r := runWith(t.Context(), map[string]string{"KEYSPACECTL_CONFIG": top.config}, "",
			"diff", "--left-context", "standalone", "--right-context", "cluster", "--left-prefix", prefix, "--right-prefix", prefix)
		if r.status != 0 || r.errors != fmt.Sprintf("note: %d equal records\n", equal) {
			t.Errorf("%s: %+v, want %d equal records", prefix, r, equal)
		}
	}
}

// TestMigrateKilled kills migrations at points of the traffic that the server
// has seen, and runs them again: what is there then is what an undisturbed one
// leaves, and nothing was written twice.
func TestMigrateKilled(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t)
	rdb := s.Client(t)
	noError(t, luascripts.Load(t.Context(), rdb)) // or the first run sends them whole
	const rows = 300
	for name, c := range map[string]struct {
		kills  int
		lay    func(t *testing.T, rdb redis.UniversalClient, prefix string, rows int)
		before string // what is run first, undisturbed
		args   string // what is killed
	}{
		"apply":          {5, layOld, "", "migrate --apply"},
		"apply to":       {3, layUntagged, "", "migrate --values raw --apply --to-prefix PREFIX-new"},
		"in place":       {5, layUntagged, "", "migrate --in-place --values raw --apply --yes"},
		"retire":         {4, layOld, "migrate --apply", "migrate --retire --yes"},
		"retire aside":   {3, layUntagged, "migrate --in-place --values raw --apply --yes", "migrate --in-place --retire --yes"},
		"retire the old": {3, layUntagged, "migrate --apply --to-prefix PREFIX-new", "migrate --retire --yes --to-prefix PREFIX-new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prepare := func(prefix string) (args []string) {
				c.lay(t, rdb, prefix, rows)
				words := func(line string) []string {
					return strings.Fields("--timeout 1m --prefix " + prefix + " " + strings.ReplaceAll(line, "PREFIX", prefix))
				}
				if c.before != "" {
					run(t, s, words(c.before)...)
				}
				return words(c.args)
			}
			state := func(prefix string) map[string]string {
				all := everything(t, rdb, prefix)
				for key, content := range everything(t, rdb, prefix+"-new") {
					all["new"+key] = content
				}
				return all
			}
			id := strings.ReplaceAll(name, " ", "-")
			whole := prepare(id)
			proxy := startProxy(t, s)
			start(t, "redis://"+proxy.Addr(), whole...).ends(0)
			noError(t, proxy.Close())
			all := proxy.CarriedTogether(faultproxy.Request)
			want := state(id)
			for i := range c.kills {
				t.Run(strconv.Itoa(i), func(t *testing.T) {
					t.Parallel()
					prefix := fmt.Sprint(id, i)
					args := prepare(prefix)
					// Not all runs send the same: the last bytes may not come.
					at := 1 + rand.Int64N(all)*9/10
					proxy := startProxy(t, s, faultproxy.Fault{Connection: faultproxy.Together, Stream: faultproxy.Request, At: at, Action: faultproxy.Blackhole})
					killAt(t, start(t, "redis://"+proxy.Addr(), args...), proxy, at)

					before := rowVersions(t, rdb, prefix, prefix+"-new")
					if out, errs, status := execute(t, s, args...); status != 0 && (status != 3 || name != "retire the old") {
						t.Errorf("killed behind %d of %d bytes and run again: exit status %d, %s%s", at, all, status, out, errs)
					}
					after := rowVersions(t, rdb, prefix, prefix+"-new")
					t.Logf("killed behind %d of %d bytes, when %d of %d rows were there", at, all, len(before), len(after))
					for key, version := range before {
						if after[key] != version {
							t.Errorf("the row %s had version %s, and has %s", key, version, after[key])
						}
					}
					if got := state(prefix); !maps.Equal(got, want) {
						for key := range want {
							if got[key] != want[key] {
								t.Errorf("%s is\n%.500q, undisturbed\n%.500q", key, got[key], want[key])
							}
						}
						for key := range got {
							if _, there := want[key]; !there {
								t.Errorf("%s is left", key)
							}
						}
					}
				})
			}
		})
	}
}

// rowVersions returns the version of each row of the current layout.
func rowVersions(t *testing.T, rdb redis.UniversalClient, prefixes ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, prefix := range prefixes {
		store, err := opaque.New(rdb, prefix)
		noError(t, err)
		for row, err := range store.Scan(t.Context(), opaque.ScanOptions{Live: true}) {
			if err == nil { // an untagged row is none yet
				all[prefix+" "+row.Key] = row.Version
			}
		}
	}
	return all
}

// TestMigrateBesideOthers rewrites rows in place while others read them and
// write: a reader sees the right value or none, and each write is there in the
// end.
func TestMigrateBesideOthers(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t)
	rdb := s.Client(t)
	const rows = 600
	layUntagged(t, rdb, "app", rows)
	store, err := opaque.New(rdb, "app")
	noError(t, err)
	written := map[string]string{}
	migrated := make(chan struct{})
	go func() {
		defer close(migrated)
		if out, errs, status := execute(t, s, "--prefix", "app", "migrate", "--in-place", "--values", "raw", "--apply", "--yes"); status != 0 && status != 4 {
			t.Errorf("exit status %d, %s%s", status, out, errs)
		}
	}()
	for i, done := 0, false; !done || i < rows; i++ {
		select {
		case <-migrated:
			done = true
		default:
		}
		n := i % rows
		key := fmt.Sprintf("u/%04d", n)
		want, mine := written[key]
		if !mine {
			want = fmt.Sprintf("v=%d", n%3)
		}
		_, there, err := store.Read(t.Context(), key)
		noError(t, err)
		if r := there[0]; r.Err == nil && (!r.Found || r.Row.Value != want) {
			t.Fatalf("row %s reads %+v, want %q", key, r, want)
		}
		// Writes to a row that is not rewritten yet are refused, new ones are not.
		for _, key := range []string{key, fmt.Sprintf("new/%d", i)} {
			value := fmt.Sprint("written ", i)
			if _, err := store.Write(t.Context(), opaque.Batch{Mutations: []opaque.Mutation{opaque.Put(key, value, opaque.Never())}}); err == nil {
				written[key] = value
			}
		}
	}
	if out, errs, status := execute(t, s, "--prefix", "app", "migrate", "--in-place", "--values", "raw", "--apply", "--yes"); status != 0 {
		t.Errorf("once more: exit status %d, %s%s", status, out, errs)
	}
	run(t, s, "--prefix", "app", "migrate", "--in-place", "--values", "raw", "--retire", "--yes")
	found := 0
	for row, err := range store.Scan(t.Context(), opaque.ScanOptions{Live: true}) {
		noError(t, err)
		if want, mine := written[row.Key]; mine && row.Value != want {
			t.Errorf("row %s is %q, want %q", row.Key, row.Value, want)
		}
		delete(written, row.Key)
		found++
	}
	if len(written) > 0 || found < rows {
		t.Errorf("%d rows are there, and %d that were written are not", found, len(written))
	}
	if out, errs, status := execute(t, s, "--prefix", "app", "verify"); status != 0 {
		t.Errorf("verify: %d, %s%s", status, out, errs)
	}
}

// TestMigrateDenied holds that a user without a right changes nothing, or what
// is said.
func TestMigrateDenied(t *testing.T) {
	t.Parallel()
	s := testserver.Real(t, testserver.Users(
		"nodel on nopass ~* +@all -del", "norename on nopass ~* +@all -rename", "noset on nopass ~* +@all -zadd",
	)...)
	rdb := s.Client(t)
	layOld(t, rdb, "done", 20)
	layUntagged(t, rdb, "un", 20)
	run(t, s, "--prefix", "done", "migrate", "--apply")
	for line, user := range map[string]string{
		"--prefix done migrate --retire --yes":                         "nodel",
		"--prefix un migrate --in-place --values raw --apply --yes":    "norename",
		"--prefix un migrate --in-place --values raw --apply --yes -q": "noset",
	} {
		prefix := strings.Fields(line)[1]
		before := everything(t, rdb, prefix)
		env := map[string]string{"KEYSPACECTL_URL": s.URL, "KEYSPACECTL_USERNAME": user, "KEYSPACECTL_PASSWORD": "any"}
		if r := runWith(t.Context(), env, "", strings.Fields(line)...); r.status != 6 {
			t.Errorf("%s by %s: %+v, want status 6", line, user, r)
		}
		if after := everything(t, rdb, prefix); !maps.Equal(before, after) {
			t.Errorf("%s by %s changed\n%q into\n%q", line, user, before, after)
		}
	}
	blobs, err := blob.New(rdb, "done")
	noError(t, err)
	if b, err := blobs.Read(t.Context(), "p/10"); err != nil || string(b.Payload) != "pppppppppp" {
		t.Errorf("the blob is %+v, %v", b, err)
	}
}
