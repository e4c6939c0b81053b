// The credentials, and which server they belong to.
//
// Credentials belong to the address they stand beside: who names another
// server on the command line does not send it the password of the context. So
// does what is said of the server itself: its shape, and whom to take for it.
// Variables are set apart from the command line, so they go with an address
// given by flag unless they name one themselves; and so do the global flags
// with the address of a side.

package config

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/keyspacectl/keyspacectl/internal/redisconn"
)

// addressLevel returns the highest place that names a server.
func (l *loader) addressLevel() level { return max(l.level("url"), l.level("addr")) }

// dropBound leaves out what belongs to an address, of places below that of the
// address in use.
func (l *loader) dropBound() {
	address := l.addressLevel()
	var dropped []string
	for from := contextLevel; from < address; from++ {
		given := l.given[from]
		if l.apart(from) && given["url"] == "" && given["addr"] == "" {
			continue
		}
		if from == environmentLevel {
			l.redisAuth = ""
		}
		for _, s := range All() {
			if _, ok := given[s.Name]; ok && s.bound {
				dropped = append(dropped, l.source(s.Name, from))
				delete(given, s.Name)
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

// apart reports whether a place is set apart from the addresses above it.
func (l *loader) apart(at level) bool { return at == environmentLevel || at == flagLevel }

// signIn sets the credentials of a target. What a URL says of them counts as
// standing where the URL stands.
func (l *loader) signIn(t *redisconn.Target, urlLevel level) error {
	if user := l.level("username"); user != none && (t.Username == "" || user >= urlLevel) {
		name := l.text("username")
		if t.Username != "" && t.Username != name && user == urlLevel {
			return l.contradiction("username", "url", user)
		}
		t.Username = name
	}
	var err error
	if t.Password, err = l.password(t.Password, urlLevel); err != nil || t.Sentinel == nil {
		return err
	}
	t.Sentinel.Username = l.text("sentinel-username")
	t.Sentinel.Password, err = l.sentinelPassword()
	return err
}

// password returns the password of the highest place that gives one, with
// REDISCLI_AUTH, which other tools share, after all of them. One that a command
// prints is left for when it is needed.
func (l *loader) password(inURL string, urlLevel level) (string, error) {
	levels := map[string]level{"url": urlLevel}
	if inURL == "" {
		levels["url"] = none
	}
	from, err := l.onlyOne(levels, "url", "password", "password-file", "password-command")
	if err != nil {
		return "", err
	}
	switch from {
	case "url":
		return inURL, nil
	case "password":
		return l.text(from), nil
	case "password-file":
		return l.readPassword(from)
	case "password-command":
		l.passwordCommand = l.text(from)
		return "", nil
	}
	return l.redisAuth, nil
}

func (l *loader) sentinelPassword() (string, error) {
	from, err := l.onlyOne(nil, "sentinel-password", "sentinel-password-file")
	switch {
	case err != nil || from == "":
		return "", err
	case from == "sentinel-password":
		return l.text(from), nil
	}
	return l.readPassword(from)
}

// onlyOne returns which of some settings that exclude each other stands at the
// highest place, or nothing for none. levels overrides the places of some.
func (l *loader) onlyOne(levels map[string]level, names ...string) (string, error) {
	top, chosen := none, ""
	for _, name := range names {
		at, ok := levels[name]
		if !ok {
			at = l.level(name)
		}
		switch {
		case at == none:
		case at == top:
			return "", l.contradiction(chosen, name, top)
		case at > top:
			top, chosen = at, name
		}
	}
	return chosen, nil
}

// readPassword returns the first line of the file that a setting names.
func (l *loader) readPassword(name string) (string, error) {
	path := l.path(name)
	f, err := os.Open(path)
	if err != nil {
		return "", l.invalid(name, err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Scan()
	switch {
	case lines.Err() != nil:
		return "", l.invalid(name, lines.Err())
	case lines.Text() == "":
		return "", l.invalid(name, errors.New("the first line of "+path+" is empty"))
	}
	return lines.Text(), nil
}
