// TLS: from files and names to a configuration, and from what goes wrong to
// what to do about it.

package redisconn

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/keyspacectl/keyspacectl/pkg/storeerr"
)

// config reads the certificates. Its errors are storeerr.Invalid.
func (t *TLS) config() (*tls.Config, error) {
	c := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         t.ServerName,
		InsecureSkipVerify: t.InsecureSkipVerify,
	}
	if t.CACert != "" {
		pem, err := os.ReadFile(t.CACert)
		if err != nil {
			return nil, storeerr.New(storeerr.Invalid, "reading the CA certificate: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, storeerr.New(storeerr.Invalid, "%s holds no certificate in PEM form", t.CACert)
		}
	}
	switch {
	case t.Cert == "" && t.Key == "":
		return c, nil
	case t.Key == "":
		return nil, storeerr.New(storeerr.Invalid, "the client certificate has no key").WithHint("name it with --tls-key")
	case t.Cert == "":
		return nil, storeerr.New(storeerr.Invalid, "the client key has no certificate").WithHint("name it with --tls-cert")
	}
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, storeerr.New(storeerr.Invalid, "reading the client certificate: %w", err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}

// secure returns the configuration for one connection. The name that is sent
// and expected is the host of its address unless one is set. wanted becomes
// true when the server asks for a client certificate.
func secure(base *tls.Config, addr string, wanted *bool) *tls.Config {
	c := base.Clone()
	if c.ServerName == "" {
		c.ServerName = hostOf(addr)
	}
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		*wanted = true
		if len(base.Certificates) == 0 {
			return &tls.Certificate{}, nil // which says that there is none
		}
		return &base.Certificates[0], nil
	}
	return c
}

func hostOf(addr string) string {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	return host
}

// handshakeError names a failed TLS handshake.
func handshakeError(addr string, err error) error {
	failed := storeerr.New(storeerr.Unavailable, "cannot speak TLS with %s: %s", addr, reason(err))
	failed.Err = err
	var mismatch x509.HostnameError
	switch {
	case errors.As(err, &mismatch):
		return nameError(addr, mismatch, failed)
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return failed.WithHint("name the authority that signed the server's certificate with --tls-ca-cert")
	case errors.As(err, new(tls.RecordHeaderError)), closedByPeer(err):
		return failed.WithHint("the server may not speak TLS; redis:// connects without it")
	}
	return failed
}

// nameError names a certificate that is for another host than the one expected.
func nameError(addr string, mismatch x509.HostnameError, failed *storeerr.Error) error {
	names := mismatch.Certificate.DNSNames
	for _, ip := range mismatch.Certificate.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return failed.WithHint("the certificate names no host at all; it needs a subject alternative name")
	}
	failed.Message = fmt.Sprintf("cannot speak TLS with %s: its certificate is for %s, not for %s",
		addr, strings.Join(names, ", "), mismatch.Host)
	return failed.WithHint("if that is the server you mean, add --tls-server-name %s", names[0])
}

// certificateError names the end of a connection to a server that asked for a
// client certificate and then never answered: where TLS is of version 1.3 it
// refuses one only behind the handshake.
func certificateError(addr string, given bool, err error) error {
	if !given {
		return storeerr.New(storeerr.Denied, "%s asks for a client certificate", addr).
			WithHint("name it and its key with --tls-cert and --tls-key")
	}
	return storeerr.New(storeerr.Denied, "%s refused the client certificate: %s", addr, reason(err)).
		WithHint("see which authority the server trusts (tls-ca-cert-file)")
}
