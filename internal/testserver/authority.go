// A certificate authority of a test, and the certificates that it signs. The
// files live in a directory of the test.

package testserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority is a certificate authority that nobody but its test trusts.
type Authority struct {
	CACert string // the file of its certificate, in PEM

	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Certificate is the pair of files that a server or a client identifies
// itself by, in PEM.
type Certificate struct{ Cert, Key string }

// NewAuthority makes an authority.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{dir: t.TempDir()}
	template := newTemplate(t)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	a.cert, a.key = template, newKey(t)
	der := a.sign(t, template, a.key)
	var err error
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatalf("parsing the certificate of the test's authority: %v", err)
	}
	a.CACert = a.write(t, "CERTIFICATE", der)
	return a
}

// Issue signs a certificate for servers of these names, which may be
// addresses, and for clients.
func (a *Authority) Issue(t testing.TB, names ...string) Certificate {
	t.Helper()
	template := newTemplate(t)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	key := newKey(t)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatalf("encoding the key of a certificate: %v", err)
	}
	return Certificate{
		Cert: a.write(t, "CERTIFICATE", a.sign(t, template, key)),
		Key:  a.write(t, "PRIVATE KEY", der),
	}
}

// config is what a client speaks TLS with that trusts the authority.
func (a *Authority) config(client Certificate) (*tls.Config, error) {
	own, err := tls.LoadX509KeyPair(client.Cert, client.Key)
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(a.cert)
	return &tls.Config{RootCAs: trusted, Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12}, nil
}

func newTemplate(t testing.TB) *x509.Certificate {
	t.Helper()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatalf("choosing a serial number: %v", err)
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "keyspacectl test " + serial.String()},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
	}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("making a key: %v", err)
	}
	return key
}

func (a *Authority) sign(t testing.TB, template *x509.Certificate, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatalf("signing a certificate: %v", err)
	}
	return der
}

// write writes a block of PEM to a file of its own.
func (a *Authority) write(t testing.TB, kind string, der []byte) string {
	t.Helper()
	path := filepath.Join(a.dir, rand.Text()+".pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatalf("writing a certificate: %v", err)
	}
	return path
}
