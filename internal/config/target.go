// The server: its address, its shape, and TLS.

package config

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/keyspacectl/keyspacectl/internal/redisconn"
)

// target returns the server with the database and credentials to use. What a
// URL says of them counts as standing where the URL stands.
func (l *loader) target() (redisconn.Target, error) {
	t, urlLevel, err := l.server()
	if err != nil {
		return t, err
	}
	if err := l.setDB(&t, urlLevel); err != nil || t.Embedded != "" {
		return t, errors.Join(err, l.refuseIdle(t))
	}
	if err := l.setTLS(&t, urlLevel); err != nil {
		return t, err
	}
	t.Cluster = l.isTrue("cluster")
	if master := l.text("sentinel-master"); master != "" {
		t.Sentinel = &redisconn.Sentinel{Master: master}
	}
	if n := len(t.Others); n > 0 && !t.Cluster && t.Sentinel == nil {
		return t, l.invalid("addr", fmt.Errorf("names %d servers, and one is asked for; several are the nodes of a --cluster, or the Sentinels of a --sentinel-master", n+1))
	}
	if err := l.refuseIdle(t); err != nil {
		return t, err
	}
	return t, l.signIn(&t, urlLevel)
}

// server returns the server named by URL, or the servers named by address, and
// the place of the URL if it is one.
func (l *loader) server() (redisconn.Target, level, error) {
	urlLevel, addrLevel := l.level("url"), l.level("addr")
	switch {
	case urlLevel == none && addrLevel == none:
		t, err := redisconn.ParseURL(redisconn.Default)
		return t, none, err
	case urlLevel == addrLevel:
		return redisconn.Target{}, none, l.contradiction("url", "addr", urlLevel)
	case urlLevel > addrLevel:
		t, err := redisconn.ParseURL(l.text("url"))
		if err != nil {
			return t, none, l.invalid("url", err)
		}
		return t, urlLevel, nil
	}
	var all redisconn.Target
	for i, addr := range splitList(l.text("addr")) {
		t, err := redisconn.ParseAddr(addr)
		switch {
		case err != nil:
			return t, none, l.invalid("addr", err)
		case i == 0:
			all = t
		default:
			all.Others = append(all.Others, t.Addr)
		}
	}
	return all, none, nil
}

func (l *loader) setDB(t *redisconn.Target, urlLevel level) error {
	at := l.level("db")
	if at == none || t.DB != nil && at < urlLevel {
		return nil
	}
	n, err := strconv.Atoi(l.text("db"))
	switch {
	case err != nil:
		return l.invalid("db", err)
	case t.DB != nil && *t.DB != n && at == urlLevel:
		return l.contradiction("db", "url", at)
	}
	t.DB = &n
	return nil
}

// setTLS joins what the URL and the settings say. A redis:// URL of a higher
// place says that TLS is not spoken.
func (l *loader) setTLS(t *redisconn.Target, urlLevel level) error {
	at, wanted := l.level("tls"), l.isTrue("tls")
	switch {
	case at != none && !wanted && t.TLS != nil && at >= urlLevel:
		return l.invalid("tls", fmt.Errorf("contradicts %s, which says rediss", l.source("url", urlLevel)))
	case wanted && at >= urlLevel:
		t.TLS = &redisconn.TLS{}
	}
	if t.TLS == nil {
		return nil
	}
	*t.TLS = redisconn.TLS{
		CACert:             l.path("tls-ca-cert"),
		Cert:               l.path("tls-cert"),
		Key:                l.path("tls-key"),
		ServerName:         l.text("tls-server-name"),
		InsecureSkipVerify: l.isTrue("tls-insecure-skip-verify"),
	}
	return nil
}

// refuseIdle refuses settings that would do nothing with a target although
// they stand no lower than its address: who gives a certificate does not mean
// to speak without TLS.
func (l *loader) refuseIdle(t redisconn.Target) error {
	works := map[string]bool{"": true, "tls": t.TLS != nil, "sentinel-master": t.Sentinel != nil}
	for _, s := range All() {
		at := l.level(s.Name)
		if at == none || at < l.addressLevel() {
			continue
		}
		switch {
		case t.Embedded != "" && (s.Name == "tls" || s.Name == "cluster") && l.isTrue(s.Name), t.Embedded != "" && s.Name == "sentinel-master":
			return l.invalid(s.Name, errors.New("means nothing to an embedded server"))
		case works[s.needs]:
		case s.needs == "tls":
			return l.invalid(s.Name, errors.New("means nothing without TLS; add --tls, or name a rediss:// URL"))
		default:
			return l.invalid(s.Name, fmt.Errorf("means nothing without --%s", s.needs))
		}
	}
	return nil
}
