// Package redisconn turns connection settings into a go-redis client of a
// server, of a primary watched by Sentinels, or of a Redis Cluster.
//
// Nothing here dials before a command is run. The client never sends a write
// twice, knows of each failed command whether any of it was sent, and fails in
// the vocabulary of pkg/storeerr. Commands that only read are tried again.
package redisconn

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Default is the URL of the server used when none is named.
const Default = "redis://127.0.0.1:6379"

// defaultPort is the port of a Redis server that is named without one.
const defaultPort = "6379"

// Target is a server, or several that serve as one, and how to sign in.
type Target struct {
	Embedded string    // the data file of an embedded server; the other fields but DB are then empty
	Network  string    // "tcp" or "unix"
	Addr     string    // host:port of the server, of a node of the cluster or of a Sentinel; or the path of a Unix socket
	Others   []string  // host:port of further nodes of the cluster, or of further Sentinels
	Cluster  bool      // the servers are nodes of a Redis Cluster
	Sentinel *Sentinel // the servers are Sentinels, who know where the primary is; or nil
	TLS      *TLS      // how to speak TLS, or nil for none
	Username string    // the ACL user, or empty for the server's default user
	Password string    // never shown in an error or a trace
	DB       *int      // the database named, or nil for the server's first
}

// Sentinel is what to ask the Sentinels for, and how to sign in to them.
type Sentinel struct {
	Master   string // the name under which they watch the primary
	Username string // the Sentinels' ACL user, or empty
	Password string // never shown in an error or a trace
}

// TLS is how TLS is spoken with every server of a target. Certificates and
// keys are PEM files, which Open reads.
type TLS struct {
	CACert             string // the authorities to trust, or empty for those of the system
	Cert               string // the client certificate, or empty for none
	Key                string // the key of the client certificate, which may be the same file
	ServerName         string // the name to send and to expect in a certificate; empty for the host of each address
	InsecureSkipVerify bool   // take any certificate
}

// ParseURL reads redis://, rediss:// and unix:// URLs and embedded:FILE. Its
// errors repeat nothing of a URL but the names of parameters: what looks like
// a host or a port may be a password whose host was forgotten.
//
// The user name and the password are percent-encoded; where they are not, and
// it shows, the URL is refused, since it would name another host. A database is
// the path of a redis URL, or the parameter db of any.
func ParseURL(raw string) (Target, error) {
	if file, ok := strings.CutPrefix(raw, "embedded:"); ok {
		return parseEmbedded(file)
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return Target{}, fmt.Errorf("has no scheme (known: %s)", schemes)
	}
	scheme = strings.ToLower(scheme)
	userinfo, rest := cutUserinfo(rest, scheme == "unix")
	target, err := parseUserinfo(userinfo)
	if err != nil {
		return Target{}, err
	}
	switch scheme {
	case "redis", "rediss":
		if scheme == "rediss" {
			target.TLS = &TLS{}
		}
		err = target.parseHost(rest)
	case "unix":
		err = target.parseSocket(rest)
	default:
		err = fmt.Errorf("has an unknown scheme (known: %s)", schemes)
	}
	if err != nil {
		return Target{}, err
	}
	return target, nil
}

// ParseAddr reads host:port, host, [IPv6]:port or [IPv6].
func ParseAddr(addr string) (Target, error) {
	if addr == "" || strings.ContainsAny(addr, "/@?#") {
		return Target{}, errors.New("is no host:port; a URL or a Unix socket is named with --url")
	}
	var target Target
	if err := target.parseHost(addr); err != nil {
		return Target{}, err
	}
	return target, nil
}

const schemes = "redis://, rediss://, unix://, embedded:FILE"

func parseEmbedded(file string) (Target, error) {
	if file == "" || strings.HasPrefix(file, "//") {
		return Target{}, errors.New("names no file; write embedded:FILE")
	}
	return Target{Embedded: file}, nil
}

// cutUserinfo cuts what stands before the last "@", which no host, database or
// parameter can hold. The path of a socket can, so a URL that starts with one
// has no user information.
func cutUserinfo(rest string, socket bool) (userinfo, after string) {
	at := strings.LastIndexByte(rest, '@')
	if at < 0 || socket && strings.HasPrefix(rest, "/") {
		return "", rest
	}
	return rest[:at], rest[at+1:]
}

func parseUserinfo(userinfo string) (Target, error) {
	user, password, _ := strings.Cut(userinfo, ":")
	var target Target
	for _, part := range []struct {
		text string
		to   *string
	}{{user, &target.Username}, {password, &target.Password}} {
		plain, err := url.PathUnescape(part.text)
		if err != nil || strings.ContainsFunc(part.text, needsEncoding) {
			return Target{}, errors.New("has a user name or password that is not percent-encoded " +
				"(@ is %40, / is %2F, % is %25); or set KEYSPACECTL_PASSWORD, which is taken as it is")
		}
		*part.to = plain
	}
	return target, nil
}

// needsEncoding reports whether RFC 3986 has no place for r, as it stands, in
// the user information of a URL.
func needsEncoding(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("-._~%!$&'()*+,;=:", r)
}

// parseHost reads host, port, path and parameters of a redis URL.
func (t *Target) parseHost(rest string) error {
	u, err := url.Parse("redis://" + rest)
	if err != nil {
		return errors.New("names no valid host:port")
	}
	host, port := u.Hostname(), u.Port()
	if strings.Contains(host, ":") && !strings.HasPrefix(u.Host, "[") {
		return errors.New("names no valid host:port; an IPv6 address is written in brackets, as [::1]:6379")
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = defaultPort
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return errors.New("names a port that is not 1 to 65535")
	}
	t.Network, t.Addr = "tcp", net.JoinHostPort(host, port)
	return t.parseDB(u, strings.TrimPrefix(u.Path, "/"))
}

// parseSocket reads path and parameters of a unix URL.
func (t *Target) parseSocket(rest string) error {
	path, query, _ := strings.Cut(rest, "?")
	plain, err := url.PathUnescape(path)
	if err != nil || plain == "" {
		return errors.New("names no socket; write unix:///path/to/redis.sock")
	}
	t.Network, t.Addr = "unix", plain
	return t.parseDB(&url.URL{RawQuery: query}, "")
}

// parseDB takes the database from the path or the parameter db.
func (t *Target) parseDB(u *url.URL, path string) error {
	if u.Fragment != "" {
		return errors.New("has a fragment (#…), which means nothing here")
	}
	params, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return errors.New("has malformed parameters")
	}
	named := params["db"]
	delete(params, "db")
	for name := range params {
		return fmt.Errorf("has the unknown parameter %q (known: db)", name)
	}
	if path != "" {
		named = append(named, path)
	}
	for _, text := range named {
		db, err := strconv.Atoi(text)
		switch {
		case err != nil || db < 0:
			return errors.New("names a database that is no number from 0")
		case t.DB != nil && *t.DB != db:
			return fmt.Errorf("names two databases, %d and %d", *t.DB, db)
		}
		t.DB = &db
	}
	return nil
}
