// Every shape of Redis: one config file with a context for each, and what
// happens to commands while servers come and go.

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/keyspacectl/keyspacectl/internal/testserver"
)

// topologies are the servers of all tests below, since they take their time to
// start.
type topologies struct {
	config     string // the file with the contexts
	standalone testserver.Server
	sentinel   *testserver.Sentinel
	cluster    *testserver.Cluster
}

func TestTopologies(t *testing.T) {
	t.Parallel()
	top := startTopologies(t)
	t.Run("contexts", top.testContexts)
	t.Run("copy", top.copyAround)
	t.Run("migrate", top.migrateAlike)
	t.Run("sentinel", top.testSentinel)
	t.Run("cluster", top.testCluster)
}

func startTopologies(t *testing.T) *topologies {
	t.Helper()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		noError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	authority := testserver.NewAuthority(t)
	client := authority.Issue(t)
	tls := testserver.RealTLS(t, testserver.TLS{Authority: authority, Names: []string{"localhost"}, ClientAuth: true})
	socket := testserver.Real(t, testserver.Users(
		"default off", "operator on >p@s/s:w#%3D+é ~app:* ~{app|* &* +@all -keys -flushall -flushdb")...)
	top := &topologies{
		standalone: testserver.RealTCP(t),
		sentinel:   testserver.StartSentinel(t, testserver.SentinelOptions{Password: "data", SentinelPassword: "watch"}),
		cluster:    testserver.StartCluster(t),
	}
	file("operator", "p@s/s:w#%3D+é\n")
	file("data", "data\n")
	file("watch", "watch\n")
	top.config = file("config.yaml", fmt.Sprintf(`contexts:
  - name: standalone
    url: %s
    prefix: app
  - name: tls
    url: %s
    tls-ca-cert: %s
    tls-cert: %s
    tls-key: %s
    prefix: app
  - name: socket
    url: %s
    username: operator
    password-file: operator
    prefix: app
  - name: sentinel
    addr: [%s]
    sentinel-master: %s
    sentinel-password-file: watch
    password-file: data
    prefix: app
  - name: cluster
    addr: [%s]
    cluster: true
    prefix: app
`, top.standalone.URL, tls.URL, authority.CACert, client.Cert, client.Key, socket.URL,
		strings.Join(top.sentinel.Addrs(), ", "), testserver.MasterName, strings.Join(top.cluster.Addrs(), ", ")))
	return top
}

// testContexts runs the same scripts in each context.
func (top *topologies) testContexts(t *testing.T) {
	for _, name := range []string{"standalone", "tls", "socket", "sentinel", "cluster"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testscript.Run(t, testscript.Params{
				Dir:                 "testdata/contexts",
				RequireExplicitExec: true,
				RequireUniqueNames:  true,
				Setup: func(env *testscript.Env) error {
					env.Setenv("KEYSPACECTL_CONFIG", top.config)
					env.Setenv("KEYSPACECTL_CONTEXT", name)
					env.Setenv("GORACE", raceExit)
					return nil
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
			})
		})
	}
}

// env is the environment of a command in a context. Its keys are under a
// prefix of its own.
func (top *topologies) env(context, prefix string) map[string]string {
	return map[string]string{
		"KEYSPACECTL_CONFIG": top.config, "KEYSPACECTL_CONTEXT": context,
		"KEYSPACECTL_PREFIX": prefix, "KEYSPACECTL_TIMEOUT": "30s",
	}
}
