// What a server refuses by its nature: certificates that are not for its name
// or that are missing, and writes to a replica.

package main_test

import (
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/opaque"
)

func TestCertificates(t *testing.T) {
	t.Parallel()
	authority := testserver.NewAuthority(t)
	client := authority.Issue(t)
	server := testserver.RealTLS(t, testserver.TLS{Authority: authority, Names: []string{"localhost"}, ClientAuth: true})
	byAddress := strings.Replace(server.URL, "localhost", "127.0.0.1", 1)
	trust := []string{"--tls-ca-cert", authority.CACert}
	identify := append([]string{"--tls-cert", client.Cert, "--tls-key", client.Key}, trust...)
	for name, test := range map[string]struct {
		url    string
		flags  []string
		status int
		says   []string
	}{
		"right":               {server.URL, identify, 3, []string{"no live row"}},
		"other host":          {byAddress, identify, 8, []string{"127.0.0.1", "--tls-server-name"}},
		"other host, named":   {byAddress, append([]string{"--tls-server-name", "localhost"}, identify...), 3, []string{"no live row"}},
		"not trusted":         {server.URL, []string{"--tls-cert", client.Cert, "--tls-key", client.Key}, 8, []string{"--tls-ca-cert"}},
		"no certificate":      {server.URL, trust, 6, []string{"certificate", "--tls-cert"}},
		"no TLS":              {strings.Replace(server.URL, "rediss", "redis", 1), nil, 8, []string{"rediss://"}},
		"certificate, no key": {server.URL, append([]string{"--tls-cert", client.Cert}, trust...), 2, []string{"tls-key"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{"KEYSPACECTL_URL": test.url, "KEYSPACECTL_PREFIX": "app", "KEYSPACECTL_TIMEOUT": "10s"}
			r := runWith(t.Context(), env, "", append([]string{"read", "k"}, test.flags...)...)
			if r.status != test.status {
				t.Errorf("exit status %d, want %d", r.status, test.status)
			}
			for _, want := range test.says {
				if !strings.Contains(r.errors, want) {
					t.Errorf("it said %q, want %q in it", r.errors, want)
				}
			}
		})
	}
}

// A replica takes no writes, whether their conditions are true or false there:
// what it holds may be old, so its answer is no conflict.
func TestReplicaTakesNoWrites(t *testing.T) {
	t.Parallel()
	servers := testserver.StartReplicated(t)
	master := openStores(t, servers.Master.Client(t), "app")
	prepareRow(t, master)
	token := prepareChunk(t, master)
	_, err := master.blob.Put(t.Context(), "b", []byte("blob"), 3600_000)
	noError(t, err)
	noError(t, master.rdb.HSet(t.Context(), "app:opaque:6f6c64", "bytes", "old", "version", 1).Err())
	noError(t, master.rdb.HSet(t.Context(), "done:opaque:6b", "bytes", "old", "version", 1).Err())
	if r := runWith(t.Context(), map[string]string{"KEYSPACECTL_URL": servers.Master.URL}, "", "--prefix", "done", "migrate", "--apply"); r.status != 0 {
		t.Errorf("migrating: %+v", r)
	}
	replicated(t, master.rdb, "any")
	env := map[string]string{"KEYSPACECTL_URL": servers.Replica.URL, "KEYSPACECTL_PREFIX": "app"}
	for _, line := range []string{
		"put k new", "put n new --if-missing", "put k new --if-version 1", "delete k", "delete k --if-version 1", "delete --under k --yes",
		"blob put n --retention 1h", "blob renew b --retention 1h", "blob delete b",
		"warm cas s 8 new --create", "warm cas s 7 new --expect " + token, "warm delete s 7 --expect " + token,
		"put k new --if-missing", "put k new --if-version 9", "delete n --if-version 9", "blob put b --retention 1h", "blob renew n --retention 1h",
		"migrate --apply", "--prefix done migrate --retire --yes",
		"warm cas s 7 new --create", "warm cas s 7 new --expect x", "warm cas s 8 new --expect x", "warm delete s 7 --expect x", "warm delete s 8 --expect x",
	} {
		r := runWith(t.Context(), env, "payload", strings.Fields(line)...)
		if r.status != 6 || !strings.Contains(r.errors, "replica") {
			t.Errorf("%s: %+v, want status 6 and a word of the replica", line, r)
		}
	}
	for _, line := range []string{"read k", "history k", "warm read s 7", "scan --live", "migrate", "migrate --retire --dry-run --prefix done"} {
		if r := runWith(t.Context(), env, "", strings.Fields(line)...); r.status != 0 {
			t.Errorf("%s: %+v, want status 0", line, r)
		}
	}
}

// A row that open snapshots hold full refuses what names it, with 6 and a word
// of what to do; delete --under goes on with the others.
func TestBacklogStatus(t *testing.T) {
	t.Parallel()
	testserver.Each(t, func(t *testing.T, server testserver.Server) {
		s := openStores(t, server.Client(t), "app")
		put := func(key string) {
			_, err := s.opaque.Write(t.Context(), opaque.Batch{Mutations: []opaque.Mutation{opaque.Put(key, "v", opaque.Never())}})
			noError(t, err)
		}
		put("other")
		put("k")
		_, err := s.opaque.OpenSnapshot(t.Context(), "")
		noError(t, err)
		for range opaque.MaxRowVersions - 1 {
			put("k")
		}
		env := map[string]string{"KEYSPACECTL_URL": server.URL, "KEYSPACECTL_PREFIX": "app"}
		for _, test := range []struct{ line, says string }{
			{"put k v", "hint: see `keyspacectl snapshot list`"},
			{"delete --under= --all --yes", "error: skipped 1 row that open snapshots hold back\n"},
		} {
			r := runWith(t.Context(), env, "", strings.Fields(test.line)...)
			if r.status != 6 || !strings.Contains(r.errors, test.says) {
				t.Errorf("%s: %+v, want status 6 and %q", test.line, r, test.says)
			}
		}
		if r := runWith(t.Context(), env, "", "read", "k"); r.status != 0 || r.out != "v" {
			t.Errorf("the full row: %+v", r)
		}
		if r := runWith(t.Context(), env, "", "read", "other"); r.status != 3 {
			t.Errorf("the other row: %+v", r)
		}
	})
}
