// Servers that speak TLS, and servers with ACL users.

package testserver

import (
	"net"
	"strings"
	"testing"
)

// TLS says what a server that speaks TLS is like.
type TLS struct {
	Authority  *Authority
	Names      []string // what its certificate is for; the first one is the host of its URL
	ClientAuth bool     // whether a client needs a certificate of the authority
}

// RealTLS is [RealTCP] with a server that speaks TLS and nothing else.
// [Server.Client] trusts it, and has a certificate.
func RealTLS(t testing.TB, o TLS, args ...string) Server {
	t.Helper()
	own := o.Authority.Issue(t, o.Names...)
	auth := "no"
	if o.ClientAuth {
		auth = "yes"
	}
	config, err := o.Authority.config(own)
	if err != nil {
		t.Fatalf("reading a certificate: %v", err)
	}
	listen := func(dir string) (endpoint, error) {
		port, err := freePort()
		if err != nil {
			return endpoint{}, err
		}
		return endpoint{
			args: inMemory(dir, "--port", "0", "--tls-port", port, "--bind", "127.0.0.1",
				"--tls-cert-file", own.Cert, "--tls-key-file", own.Key,
				"--tls-ca-cert-file", o.Authority.CACert, "--tls-auth-clients", auth),
			url: "rediss://" + net.JoinHostPort(o.Names[0], port),
			tls: config,
		}, nil
	}
	return start(t, listen, args)
}

// Users returns the arguments of a server that has these ACL users besides the
// default one, each as in an ACL file: "bob on >secret ~app:* +@all".
func Users(rules ...string) []string {
	var args []string
	for _, rule := range rules {
		args = append(append(args, "--user"), strings.Fields(rule)...)
	}
	return args
}
