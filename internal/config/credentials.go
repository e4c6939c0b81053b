// The server and the credentials that belong to it.
//
// Credentials belong to the address they stand beside: who names another
// server on the command line does not send it the password of the context.
// Variables are set apart from the command line, so they go with an address
// given by flag unless they name one themselves.

package config

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/keyspacectl/keyspacectl/internal/redisconn"
)

// credentials returns the settings that are left out where another server is named.
func credentials() []string { return []string{"username", "password", "password-file"} }

// addressLevel returns the highest place that names a server.
func (l *loader) addressLevel() level { return max(l.level("url"), l.level("addr")) }

// dropCredentials leaves out the credentials of places below the address's.
func (l *loader) dropCredentials() {
	address := l.addressLevel()
	var dropped []string
	for from := contextLevel; from < address; from++ {
		given := l.given[from]
		if from == environmentLevel && given["url"] == "" && given["addr"] == "" {
			continue
		}
		if from == environmentLevel {
			l.redisAuth = ""
		}
		for _, name := range credentials() {
			if _, ok := given[name]; ok {
				dropped = append(dropped, l.source(name, from))
				delete(given, name)
			}
		}
	}
	if len(dropped) == 0 {
		return
	}
	name := "url"
	if l.level("addr") == address {
		name = "addr"
	}
	l.unused = fmt.Sprintf("unused, because %s names another server: %s", l.source(name, address), strings.Join(dropped, ", "))
}

// target returns the server with the database and credentials to use. What a
// URL says of them counts as standing where the URL stands.
func (l *loader) target() (redisconn.Target, error) {
	t, urlLevel, err := l.server()
	if err != nil {
		return t, err
	}
	if db := l.level("db"); db != none && (t.DB == nil || db >= urlLevel) {
		n, err := strconv.Atoi(l.text("db"))
		switch {
		case err != nil:
			return t, l.invalid("db", err)
		case t.DB != nil && *t.DB != n && db == urlLevel:
			return t, l.contradiction("db", "url", db)
		}
		t.DB = &n
	}
	if t.Embedded != "" {
		return t, nil
	}
	if user := l.level("username"); user != none && (t.Username == "" || user >= urlLevel) {
		name := l.text("username")
		if t.Username != "" && t.Username != name && user == urlLevel {
			return t, l.contradiction("username", "url", user)
		}
		t.Username = name
	}
	t.Password, err = l.password(t.Password, urlLevel)
	return t, err
}

// server returns the server named by URL or address, and the place of the URL
// if it is one.
func (l *loader) server() (redisconn.Target, level, error) {
	name, parse, raw := "url", redisconn.ParseURL, l.text("url")
	urlLevel, addrLevel := l.level("url"), l.level("addr")
	switch {
	case urlLevel == none && addrLevel == none:
		raw = redisconn.Default
	case urlLevel == addrLevel:
		return redisconn.Target{}, none, l.contradiction("url", "addr", urlLevel)
	case addrLevel > urlLevel:
		name, parse, raw = "addr", redisconn.ParseAddr, l.text("addr")
		urlLevel = none
		if n := len(splitList(raw)); n > 1 {
			return redisconn.Target{}, none, l.invalid(name, fmt.Errorf("names %d servers, and one is asked for", n))
		}
	}
	t, err := parse(raw)
	if err != nil {
		return t, none, l.invalid(name, err)
	}
	return t, urlLevel, nil
}

// password returns the password of the highest place that gives one, with
// REDISCLI_AUTH, which other tools share, after all of them.
func (l *loader) password(inURL string, urlLevel level) (string, error) {
	if inURL == "" {
		urlLevel = none
	}
	literal, file := l.level("password"), l.level("password-file")
	top := max(urlLevel, literal, file)
	switch {
	case top == none:
		return l.redisAuth, nil
	case literal == top && file == top:
		return "", l.contradiction("password", "password-file", top)
	case urlLevel == top && literal == top:
		return "", l.contradiction("url", "password", top)
	case urlLevel == top && file == top:
		return "", l.contradiction("url", "password-file", top)
	case literal == top:
		return l.text("password"), nil
	case file == top:
		return l.readPassword()
	}
	return inURL, nil
}

// readPassword returns the first line of the password file.
func (l *loader) readPassword() (string, error) {
	path := l.path("password-file")
	f, err := os.Open(path)
	if err != nil {
		return "", l.invalid("password-file", err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Scan()
	switch {
	case lines.Err() != nil:
		return "", l.invalid("password-file", lines.Err())
	case lines.Text() == "":
		return "", l.invalid("password-file", errors.New("the first line of "+path+" is empty"))
	}
	return lines.Text(), nil
}
