// Tests of TLS with real servers: what is trusted, and what is said when it
// is not.
package redisconn_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keyspacectl/keyspacectl/internal/redisconn"
	"github.com/keyspacectl/keyspacectl/internal/testserver"
	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

func TestTLS(t *testing.T) {
	t.Parallel()
	authority, stranger := testserver.NewAuthority(t), testserver.NewAuthority(t)
	own, foreign := authority.Issue(t, "client"), stranger.Issue(t, "client")
	named := testserver.RealTLS(t, testserver.TLS{Authority: authority, Names: []string{"localhost"}})
	strict := testserver.RealTLS(t, testserver.TLS{Authority: authority, Names: []string{"127.0.0.1"}, ClientAuth: true})
	byAddress := strings.Replace(named.URL, "localhost", "127.0.0.1", 1)
	for name, c := range map[string]struct {
		url  string
		tls  redisconn.TLS
		kind storeerr.Kind // or empty: it works
		says string
		hint string
	}{
		"by name":               {url: named.URL, tls: redisconn.TLS{CACert: authority.CACert}},
		"by address":            {byAddress, redisconn.TLS{CACert: authority.CACert}, storeerr.Unavailable, "its certificate is for localhost, not for 127.0.0.1", "--tls-server-name localhost"},
		"another name":          {named.URL, redisconn.TLS{CACert: authority.CACert, ServerName: "other"}, storeerr.Unavailable, "is for localhost, not for other", "--tls-server-name"},
		"by address and name":   {url: byAddress, tls: redisconn.TLS{CACert: authority.CACert, ServerName: "localhost"}},
		"unknown authority":     {named.URL, redisconn.TLS{}, storeerr.Unavailable, "unknown authority", "--tls-ca-cert"},
		"other authority":       {named.URL, redisconn.TLS{CACert: stranger.CACert}, storeerr.Unavailable, "unknown authority", "--tls-ca-cert"},
		"not verified":          {url: byAddress, tls: redisconn.TLS{InsecureSkipVerify: true}},
		"no client certificate": {strict.URL, redisconn.TLS{CACert: authority.CACert}, storeerr.Denied, "asks for a client certificate", "--tls-cert and --tls-key"},
		"foreign certificate":   {strict.URL, redisconn.TLS{CACert: authority.CACert, Cert: foreign.Cert, Key: foreign.Key}, storeerr.Denied, "refused the client certificate", "authority"},
		"client certificate":    {url: strict.URL, tls: redisconn.TLS{CACert: authority.CACert, Cert: own.Cert, Key: own.Key}},
		"certificate unasked":   {url: named.URL, tls: redisconn.TLS{CACert: authority.CACert, Cert: own.Cert, Key: own.Key}},
	} {
		target, err := redisconn.ParseURL(c.url)
		if err != nil {
			t.Fatal(err)
		}
		target.TLS = &c.tls
		for range 20 { // whether the server's last words arrive is a race
			client := open(t, redisconn.Options{Target: target})
			err = storeerr.FromRedis(client.Set(t.Context(), "k", "v", 0).Err(), storeerr.Writes, "putting")
			if c.kind != "" {
				checkError(t, err, c.kind, c.says)
				checkHint(t, err, c.hint)
			} else if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// The name that is sent is the host given, whichever server answers.
func TestServerNameIsSent(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{"localhost": "localhost", "127.0.0.1": ""} {
		seen := make(chan string, 1)
		target := listenTLSNamed(t, seen)
		_, port, _ := net.SplitHostPort(target.Addr)
		target.Addr = net.JoinHostPort(url, port)
		_ = open(t, redisconn.Options{Target: target}).Set(t.Context(), "k", "v", 0).Err()
		if got := <-seen; got != want {
			t.Errorf("%s: sent the name %q, want %q", url, got, want)
		}
	}
}

func TestCertificateFiles(t *testing.T) {
	t.Parallel()
	authority := testserver.NewAuthority(t)
	one, other := authority.Issue(t, "one"), authority.Issue(t, "other")
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for says, tls := range map[string]redisconn.TLS{
		"reading the CA certificate: open /none":     {CACert: "/none"},
		"holds no certificate in PEM form":           {CACert: empty},
		"reading the client certificate: open /none": {Cert: "/none", Key: one.Key},
		"reading the client certificate: tls: ":      {Cert: one.Cert, Key: other.Key},
		"the client certificate has no key":          {Cert: one.Cert},
		"the client key has no certificate":          {Key: one.Key},
	} {
		_, err := redisconn.Open(redisconn.Options{Target: redisconn.Target{Network: "tcp", Addr: "h:1", TLS: &tls}})
		checkError(t, err, storeerr.Invalid, says)
	}
}
